"""cluster: a one-node Slurm on the loopback interface: munged, slurmctld and slurmd from Debian's packages, without
systemd, in a private directory. Call inside() first: the kernel then removes every process when it ends."""

import os
import pwd
import re
import shutil
import socket
import subprocess
import tempfile
import time

DAEMONS = ("munged", "slurmctld", "slurmd")
CONF = """ClusterName=xcore
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld_port}
SlurmdPort={slurmd_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={dir}/munge.socket,cred_expire=15
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
JobRequeue=1
MpiDefault=none
KillWait=1
ReturnToService=2
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=1000000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def available():
    return all(shutil.which(one, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin") for one in DAEMONS)


def inside(argv):
    """Reruns this program as the first process of a pid namespace, so that all its descendants end with it."""
    words = ["unshare"] + ([] if os.getuid() == 0 else ["--user", "--map-current-user"]) + ["--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.environ.get("XC_INSIDE") or subprocess.run(words + ["true"], stderr=subprocess.DEVNULL, check=False).returncode:
        return
    os.environ["XC_INSIDE"] = "1"
    os.execvp(words[0], words + argv)


def held_port():
    """A socket on an otherwise unused port; a daemon that uses SO_REUSEADDR, as Slurm's do, can listen there."""
    held = socket.socket()
    held.bind(("127.0.0.1", 0))
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return held


class Cluster:
    def __init__(self, cpus=2):
        """cpus: the number that the node claims."""
        # Slurm's settings cannot name files with a blank or a quote.
        odd = re.search(r"[^\w./-]", tempfile.gettempdir(), re.ASCII)
        self.dir, self.daemons = tempfile.mkdtemp(prefix="xcore-slurm-", dir="/tmp" if odd else None), []
        for name in ("state", "spool"):
            os.mkdir(os.path.join(self.dir, name))
        self.held = [held_port(), held_port()]
        ctld_port, slurmd_port = (one.getsockname()[1] for one in self.held)
        self.conf = os.path.join(self.dir, "slurm.conf")
        self.env = {**os.environ, "SLURM_CONF": self.conf, "PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin"}
        self.env.pop("CI", None)
        with open(self.conf, "w", encoding="utf-8") as stream:
            stream.write(CONF.format(host=socket.gethostname().split(".")[0], ctld_port=ctld_port, slurmd_port=slurmd_port,
                                     user=pwd.getpwuid(os.getuid()).pw_name, dir=self.dir, cpus=cpus))

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_):
        self.end()

    def daemon(self, name, *words):
        with open(os.path.join(self.dir, name + ".log"), "w", encoding="utf-8") as log:
            child = subprocess.Popen([name, *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.env, cwd=self.dir)
        self.daemons.append((name, child))

    def start(self):
        key = os.path.join(self.dir, "munge.key")
        with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o400), "wb") as stream:
            stream.write(os.urandom(128))
        at = {name: os.path.join(self.dir, "munge." + name) for name in ("socket", "pid", "seed")}
        self.daemon("munged", "--foreground", "--force", "--key-file=" + key, "--socket=" + at["socket"], "--pid-file=" + at["pid"],
                    "--seed-file=" + at["seed"], "--log-file=" + os.path.join(self.dir, "munge.log"), "--num-threads=2")
        self.wait(lambda: os.path.exists(at["socket"]), "munged")
        self.daemon("slurmctld", "-D", "-f", self.conf)
        self.daemon("slurmd", "-D", "-f", self.conf)
        self.wait(lambda: "idle" in self.ask("sinfo", "-h", "-o", "%T"), "the node")

    def wait(self, condition, what, seconds=300):
        end = time.monotonic() + seconds
        while not condition():
            for name, child in self.daemons:
                if child.poll() is not None:
                    raise SystemExit("%s ended with %d\n%s" % (name, child.returncode, self.logs()))
            if time.monotonic() > end:
                raise SystemExit("%s: not within %d s\n%s" % (what, seconds, self.logs()))
            time.sleep(0.1)

    def logs(self):
        text = ""
        for name, _ in self.daemons:
            with open(os.path.join(self.dir, name + ".log"), encoding="utf-8", errors="replace") as stream:
                text += "--- %s\n%s" % (name, "".join(stream.readlines()[-20:]))
        return text

    def ask(self, *words):
        return subprocess.run(words, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout

    def job(self, job):
        """Slurm's record of a job (ID or ID_TASK): a dictionary."""
        words = self.ask("scontrol", "-o", "show", "job", job).split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def finish(self, job, seconds=300):
        """Its exit code ("0:0") once it has ended."""
        ended = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY")
        self.wait(lambda: self.job(job).get("JobState") in ended, "job " + job, seconds)
        return self.job(job)["ExitCode"]

    def end(self):
        if self.daemons:
            self.ask("scancel", "--full", "--signal=KILL", "--user=%d" % os.getuid())
        for _, child in reversed(self.daemons):
            child.terminate()
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        for one in self.held:
            one.close()
        shutil.rmtree(self.dir, ignore_errors=True)
