/* The page of a batch, last part: the table of clusters with filters, search and sorting; clusters open by mouse, keys and address. */
'use strict';

/* ---- search ---- */

const small = strings.map(s => (s || '').toLowerCase());
const TEXTS = ['id', 'names', 'class', 'place', 'function', 'headline', 'cause', 'expression', 'origin', 'message', 'note', 'kind',
  'signal', 'thread'];

/* Finds the strings with the word, then the rows, then the items. */
function searched(word) {
  const inString = small.map(s => s.includes(word));
  inString[0] = false;
  const inRow = rows.map(row => row !== null && [0, 1, 2, 3, 5].some(i => inString[row[i]]));
  return {inString, inRow};
}

const memberHas = (hits, m) => [0, 1, 2, 3].some(i => hits.inString[m[i]]) || m[11].some(i => hits.inString[i]);
const clusterHas = (hits, c) => TEXTS.some(key => hits.inString[c[key]]) || (c.stack || []).some(i => hits.inRow[i]) ||
  c.members.some(m => memberHas(hits, m));
const failedHas = (hits, f) => hits.inString[f[0]] || hits.inString[f[2]];

/* ---- filters ---- */

const chosen = {state: new Set(), severity: new Set()};

/* Toggle buttons that can be combined; each click applies the new selection. */
function chips(box, key, order) {
  const sums = tally(clusters, c => [c[key]]);
  if (sums.size < 2) return;
  [...sums.keys()].sort((a, b) => order.indexOf(string(a)) - order.indexOf(string(b))).forEach(value => {
    const chip = el('button', '', string(value) + ' ' + count(sums.get(value)));
    chip.type = 'button';
    chip.setAttribute('aria-pressed', 'false');
    chip.addEventListener('click', () => {
      const on = !chosen[key].delete(value);
      if (on) chosen[key].add(value);
      chip.setAttribute('aria-pressed', on);
      show();
    });
    box.append(chip);
  });
}

function choices(select, all, keys) {
  const sums = [...tally(clusters, keys)].filter(([value]) => value);
  sums.sort((a, b) => b[1] - a[1] || (string(a[0]) < string(b[0]) ? -1 : 1));
  select.append(new Option(all, '0'));
  sums.forEach(([value, n]) => select.append(new Option(string(value) + ' (' + count(n) + ')', value)));
  select.addEventListener('change', show);
}

function passes(c) {
  const className = +$('class').value, program = +$('program').value;
  return (!chosen.state.size || chosen.state.has(c.state)) && (!chosen.severity.size || chosen.severity.has(c.severity)) &&
    (!className || c.class === className) && (!program || c.members.some(m => m[1] === program));
}

const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info'];
const STATES = ['new', 'expired', 'open', 'known', 'flaky', 'unseen', 'gone'];
const rank = {
  cores: c => -c.members.length,
  state: c => STATES.indexOf(string(c.state)),
  severity: c => SEVERITIES.indexOf(string(c.severity)),
};
let order = null; /* {by, down}; null: as the file has it */

function sorted(list) {
  if (!order) return list;
  const key = rank[order.by] || (c => small[c[order.by] || 0]);
  const keyed = list.map((c, i) => [key(c), i, c]);
  keyed.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0) * (order.down ? -1 : 1) || a[1] - b[1]);
  return keyed.map(k => k[2]);
}

function sortBy(th) {
  const by = th.dataset.by;
  order = !order || order.by !== by ? {by, down: false} : order.down ? null : {by, down: true};
  document.querySelectorAll('#table th[data-by]').forEach(other => other.removeAttribute('aria-sort'));
  if (order) th.setAttribute('aria-sort', order.down ? 'descending' : 'ascending');
  show();
}

/* ---- the table ---- */

function toggle(tr, c, open) {
  if (tr.classList.contains('open') === open) return;
  tr.classList.toggle('open', open);
  tr.querySelector('button').setAttribute('aria-expanded', open);
  if (open) tr.after(detail(c));
  else if (tr.nextSibling && tr.nextSibling.className === 'detail') tr.nextSibling.remove();
}

const clusterOf = new WeakMap(); /* of its row */

function row(c) {
  const name = el('button', '', found(string(c.names))), link = el('a', '', found(string(c.id)));
  const tr = el('tr', 'row', el('td', '', el('span', 'tag state-' + string(c.state), string(c.state))),
    el('td', '', el('span', 'tag ' + string(c.severity), string(c.severity))),
    el('td', 'right', count(c.members.length)), el('td', 'id', link), el('td', '', found(string(c.class)), c.kind ? el('div', 'quiet', found(string(c.kind))) : null),
    el('td', '', name, c.headline ? el('div', 'quiet', found(string(c.headline))) : null), el('td', 'place', c.place ? spot(c.place) : null));
  name.type = 'button';
  name.setAttribute('aria-expanded', 'false');
  link.href = '#' + string(c.id);
  tr.id = 'c-' + string(c.id);
  clusterOf.set(tr, c);
  return [tr];
}

const body = document.querySelector('#table tbody');
const table = lazy(body, $('more'), row);
const failedBody = document.querySelector('#failed tbody');
const failed = failedBody && lazy(failedBody, document.querySelector('#failed button'), f => [el('tr', '',
  el('td', '', found(string(f[0]))), el('td', 'state', string(f[1])), el('td', '', known(f[2])))]);
let listed = [];

function show() {
  words = $('search').value.toLowerCase().split(/\s+/).filter(Boolean);
  mark = words.length ? new RegExp('(' + words.map(w => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|') + ')', 'i') : null;
  const hits = words.map(searched);
  listed = sorted(clusters.filter(c => passes(c) && hits.every(h => clusterHas(h, c))));
  table.set(listed);
  if (failed) failed.set(data.failed.filter(f => hits.every(h => failedHas(h, f))));
  const all = listed.length === clusters.length, cores = listed.reduce((sum, c) => sum + c.members.length, 0);
  $('found').textContent = (all ? plural(clusters.length, 'cluster') : count(listed.length) + ' of ' + plural(clusters.length, 'cluster')) +
    ' \u00b7 ' + plural(cores, 'core');
  $('clear').disabled = !words.length && !order && !chosen.state.size && !chosen.severity.size && !+$('class').value &&
    !+$('program').value;
  flame.find(words);
}

function clear() {
  $('search').value = '';
  $('class').value = $('program').value = '0';
  Object.values(chosen).forEach(set => set.clear());
  document.querySelectorAll('#filters [aria-pressed=true]').forEach(chip => chip.setAttribute('aria-pressed', 'false'));
  document.querySelectorAll('#table th[aria-sort]').forEach(th => th.removeAttribute('aria-sort'));
  order = null;
  show();
}

/* #3f9a2c17b0de opens that cluster, for links from elsewhere. */
function openByAddress() {
  const at = listed.findIndex(c => string(c.id) === location.hash.slice(1));
  if (at < 0) return;
  table.atLeast(at + 1);
  const tr = $('c-' + string(listed[at].id));
  toggle(tr, listed[at], true);
  tr.scrollIntoView({block: 'start'});
  tr.querySelector('button').focus({preventScroll: true});
}

/* ---- keys and clicks ---- */

function move(step) {
  const buttons = [...body.querySelectorAll('tr.row button')], at = buttons.indexOf(document.activeElement);
  if (at === buttons.length - 1) table.atLeast(buttons.length + CHUNK);
  const next = body.querySelectorAll('tr.row button')[at < 0 ? 0 : Math.max(0, at + step)];
  if (next) next.focus();
}

/* Leaves the search or closes the open cluster. */
function escape() {
  const at = document.activeElement, detail = at.closest('tr.detail'), tr = detail ? detail.previousSibling : at.closest('tr.row.open');
  if (at === $('search')) {
    at.value = '';
    show();
  }
  if (!tr) return;
  toggle(tr, clusterOf.get(tr), false);
  tr.querySelector('button').focus();
}

document.addEventListener('keydown', e => {
  const typing = /^(INPUT|SELECT)$/.test(e.target.nodeName), inRow = e.target.closest && e.target.closest('tr.row');
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === 'Escape') escape();
  else if (typing) return;
  else if (e.key === '/') { $('search').focus(); $('search').select(); }
  else if (e.key === 'j' || (inRow && e.key === 'ArrowDown')) move(1);
  else if (e.key === 'k' || (inRow && e.key === 'ArrowUp')) move(-1);
  else return;
  e.preventDefault();
});
body.addEventListener('click', e => {
  const tr = e.target.closest('tr.row');
  if (tr && (e.target.closest('button') || String(getSelection()) === '')) toggle(tr, clusterOf.get(tr), !tr.classList.contains('open'));
});
document.querySelectorAll('#table th[data-by]').forEach(th => {
  th.tabIndex = 0;
  th.addEventListener('click', () => sortBy(th));
  th.addEventListener('keydown', e => { if (e.key === 'Enter') sortBy(th); });
});
let waiting = 0;
$('search').addEventListener('input', () => { clearTimeout(waiting); waiting = setTimeout(show, clusters.length > 2000 ? 150 : 0); });
$('clear').addEventListener('click', clear);
addEventListener('hashchange', openByAddress);
addEventListener('beforeprint', () => table.atLeast(Math.min(listed.length, PRINTED)));

chips($('states'), 'state', STATES);
chips($('severities'), 'severity', SEVERITIES);
choices($('class'), 'all classes', c => [c.class]);
choices($('program'), 'all programs', c => programs(c));
$('filters').hidden = $('keys').hidden = false;
document.documentElement.classList.add('live');
show();
openByAddress();
