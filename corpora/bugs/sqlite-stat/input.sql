CREATE TABLE t1(a TEXT, b TEXT);
CREATE INDEX t1a ON t1(a);
INSERT INTO t1 VALUES('alpha', 'beta'), ('gamma', 'delta');
ANALYZE;
DELETE FROM sqlite_stat1;
INSERT INTO sqlite_stat1 VALUES('t1', NULL, '2 sz=0');
ANALYZE sqlite_master;
SELECT * FROM t1 WHERE a = 'alpha';
