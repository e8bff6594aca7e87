/* page: the controls, and what follows from them: weights ─→ trees ─→ pictures and tables. */
function $(id) { return document.getElementById(id); }

function make(tag, text, name) {
  var element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (name) element.className = name;
  return element;
}

var model = Model(JSON.parse($('data').textContent)), head = model.head;
var chart = Chart(model, $('scroll'), $('flame'), $('tall'));
var state = {view: 'flame', center: -1, filter: {threads: null, clock: 'all', range: null}, order: 'self', row: null};

/* ---- numbers as text ---- */

function percent(part, whole) {
  var p = whole ? 100 * part / whole : 0;
  return p >= 10 ? p.toFixed(1) + '%' : p >= 0.01 || !p ? p.toFixed(2) + '%' : p.toPrecision(1) + '%';
}
function seconds(s) {
  return s >= 100 ? Math.round(s) + ' s' : s >= 1 ? s.toPrecision(3) + ' s' : s >= 1e-3 ? +(s * 1e3).toPrecision(3) + ' ms' : +(s * 1e6).toPrecision(3) + ' \u00b5s';
}
function bytes(n) {
  var units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'], i = 0;
  for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
  return (i ? n.toPrecision(n >= 1000 ? 4 : 3) : n) + ' ' + units[i];
}
function amount(samples) {
  if (head.unit && model.text(head.events) === 'bytes') return bytes(samples * model.perSample);
  return head.unit === 0 ? seconds(samples * model.perSample / 1e9)
    : (samples * model.perSample).toLocaleString('en') + ' ' + (model.text(head.events) || 'events');
}
function point(p) { return (p >= 0 ? '+' : '\u2212') + Math.abs(100 * p).toFixed(2); }
function shares(w) {
  if (!model.diff) return percent(w[0], model.all[0]) + ', ' + amount(w[0]);
  var before = w[0] / (model.all[0] || 1), after = w[1] / (model.all[1] || 1);
  return percent(before, 1) + ' \u2192 ' + percent(after, 1) + ' (' + point(after - before) + ')';
}
function nameOf(f) { return f < 0 ? 'all' : model.names[f]; }
var KINDS = {2: 'kernel', 3: 'signal', 4: 'guessed', 5: 'interpreted', 6: 'compiled at run time'};
function where(f) {
  return [KINDS[model.kinds[f]], model.language(f), model.kinds[f] === 2 ? '' : model.module(f)].filter(Boolean).join(', ');
}
function about(b) {
  var of = b.fn >= 0 ? where(b.fn) : '';
  return nameOf(b.fn) + '   ' + shares(b.w) + (of ? '   ' + of : '');
}

/* ---- what is shown ---- */

function showChart() {
  var path = chart.path();
  if (state.view === 'around') chart.showAround(model.around(state.center));
  else chart.show(state.view === 'flame' ? model.flame() : model.inverted(), state.kept === state.view ? path : []);
  state.kept = state.view;
  chart.draw();
  $('details').textContent = chart.root.w[chart.side] ? about(chart.zoomed) : 'nothing here: no samples pass the filters';
}

function lineCell(row) {
  var file = row.file.slice(row.file.lastIndexOf('/') + 1), cell = make('td', file + ':' + row.line);
  cell.title = row.file + ':' + row.line;
  return cell;
}

function functionRow(row, table) {
  var tr = make('tr'), name = make('td', nameOf(row.fn)), side = model.diff ? 1 : 0;
  tr.dataset.fn = row.fn;
  var of = where(row.fn);
  if (of) name.appendChild(make('span', '  ' + of, 'quiet'));
  if (model.diff) {
    tr.appendChild(make('td', percent(row.self[0], model.all[0]), 'right'));
    tr.appendChild(make('td', percent(row.self[1], model.all[1]), 'right'));
    tr.appendChild(make('td', point(row.self[1] / (model.all[1] || 1) - row.self[0] / (model.all[0] || 1)), 'right'));
  } else {
    tr.appendChild(make('td', percent(row.self[side], model.all[side]), 'right'));
    tr.appendChild(make('td', percent(row.total[side], model.all[side]), 'right'));
  }
  tr.appendChild(name);
  table.appendChild(tr);
}

function heads(table, labels) {
  var tr = make('tr');
  labels.forEach(function (label) {
    var th = make('th', undefined, label[1] ? 'right' : '');
    if (label[2]) {
      var button = make('button', label[0]);
      button.setAttribute('aria-pressed', state.order === label[2]);
      button.addEventListener('click', function () { state.order = label[2]; showTables(); });
      th.appendChild(button);
    } else {
      th.textContent = label[0];
    }
    tr.appendChild(th);
  });
  table.textContent = '';
  table.appendChild(tr);
}

var ROWS = 30;
function more(table, count, columns) {
  if (count <= ROWS) return;
  var tr = make('tr'), cell = make('td', (count - ROWS).toLocaleString('en') + ' more', 'quiet');
  cell.colSpan = columns;
  tr.appendChild(cell);
  table.appendChild(tr);
}

function showTables() {
  var rows = model.functions(), key = {
    self: function (r) { return r.self[0]; }, total: function (r) { return r.total[0]; },
    change: function (r) { return Math.abs(r.self[1] / (model.all[1] || 1) - r.self[0] / (model.all[0] || 1)); }
  }[model.diff ? 'change' : state.order];
  var table = $('functions');
  rows.sort(function (a, b) { return key(b) - key(a) || b.total[0] - a.total[0]; });
  heads(table, model.diff ? [['before', 1], ['after', 1], ['change', 1], ['function']]
    : [['self', 1, 'self'], ['total', 1, 'total'], ['function']]);
  rows.slice(0, ROWS).forEach(function (r) { functionRow(r, table); });
  more(table, rows.length, model.diff ? 4 : 3);
  var lines = model.lines();
  table = $('lines');
  heads(table, [['self', 1], ['line'], ['function']]);
  $('linetitle').textContent = model.diff ? 'Source lines after' : 'Source lines';
  lines.slice(0, ROWS).forEach(function (r) {
    var tr = make('tr'), side = model.diff ? 1 : 0;
    tr.dataset.fn = r.fn;
    tr.appendChild(make('td', percent(r.self, model.all[side]), 'right'));
    tr.appendChild(lineCell(r));
    tr.appendChild(make('td', nameOf(r.fn)));
    table.appendChild(tr);
  });
  table.parentNode.parentNode.hidden = !lines.length;
  $('tables').classList.toggle('one', !lines.length);
  more(table, lines.length, 3);
}

function showAll() {
  model.weigh(state.filter);
  find();
  showChart();
  showTables();
}

/* ---- search ---- */

function find() {
  var field = $('search'), word = field.value, pattern = null, hits = null, any = 0;
  field.classList.remove('bad');
  try {
    if (/^\/.+\/$/.test(word)) pattern = new RegExp(word.slice(1, -1));
    else if (word) pattern = new RegExp(word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i');
  } catch (e) { field.classList.add('bad'); }
  if (pattern) {
    hits = new Uint8Array(model.names.length);
    model.names.forEach(function (name, f) { if (pattern.test(name)) { hits[f] = 1; any++; } });
  }
  chart.hits = hits;
  if (!hits) return '';
  return any + (any === 1 ? ' function matches' : ' functions match') + ': in ' + percent(model.matched(hits, chart.side), model.all[chart.side]) + ' of all';
}
$('search').addEventListener('input', function () {
  $('details').textContent = find() || about(chart.zoomed);
  chart.draw();
});

/* ---- the graph: mouse, fingers, keys ---- */

function setView(view, center) {
  if (center !== undefined) state.center = center;
  if (view === 'around' && state.center < 0) return;
  state.view = view;
  document.querySelectorAll('[data-view]').forEach(function (b) { b.setAttribute('aria-pressed', b.dataset.view === view); });
  document.querySelector('[data-view=around]').disabled = state.center < 0;
  if (state.center >= 0) $('center').textContent = nameOf(state.center);
  $('scroll').scrollTop = 0;
  showChart();
  if (view === 'around') $('scroll').scrollTop = Math.max(0, chart.base * ROW - $('scroll').clientHeight / 2);
}
document.querySelectorAll('[data-view]').forEach(function (b) { b.addEventListener('click', function () { setView(b.dataset.view); }); });

function under(e) {
  var r = $('flame').getBoundingClientRect();
  return chart.at(e.clientX - r.left, e.clientY - r.top);
}
function showTip(e, b) {
  var tip = $('tip');
  tip.hidden = !b || e.pointerType === 'touch';
  if (tip.hidden) return;
  tip.textContent = about(b);
  tip.style.left = Math.max(4, Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 6)) + 'px';
  tip.style.top = (e.clientY + 24 + tip.offsetHeight > innerHeight ? e.clientY - tip.offsetHeight - 10 : e.clientY + 18) + 'px';
}
$('flame').addEventListener('pointermove', function (e) { showTip(e, under(e)); });
$('flame').addEventListener('pointerleave', function () { $('tip').hidden = true; });
$('flame').addEventListener('click', function (e) {
  var b = under(e);
  if (!b) return;
  chart.chosen = null;
  if (state.view === 'around') setView('around', b.fn);
  else chart.zoom(b);
  $('details').textContent = about(b);
});
$('flame').addEventListener('dblclick', function (e) { var b = under(e); if (b && b.fn >= 0) setView('around', b.fn); });
$('scroll').addEventListener('scroll', function () { chart.draw(); $('tip').hidden = true; });

function back() {
  chart.chosen = null;
  if (state.view === 'around') setView('flame');
  else if (chart.zoomed.above) chart.zoom(chart.zoomed.above);
  $('details').textContent = about(chart.zoomed);
}
$('scroll').addEventListener('keydown', function (e) {
  var way = {ArrowUp: 'out', ArrowDown: 'in', ArrowLeft: 'left', ArrowRight: 'right'}[e.key];
  if (way && state.view !== 'around') {
    var b = chart.step(way), y = b.depth * ROW, s = $('scroll');
    e.preventDefault();
    if (y < s.scrollTop || y > s.scrollTop + s.clientHeight - 2 * ROW) s.scrollTop = Math.max(0, y - s.clientHeight / 2);
    $('details').textContent = about(b);
  } else if (e.key === 'Enter' && chart.chosen) {
    chart.zoom(chart.chosen);
  }
});
document.addEventListener('keydown', function (e) {
  if (e.target.tagName === 'INPUT' || e.target.tagName === 'SELECT') {
    if (e.key === 'Escape' && e.target.id === 'search') { e.target.value = ''; find(); chart.draw(); e.target.blur(); $('scroll').focus(); }
    return;
  }
  if (e.key === '/' || ((e.ctrlKey || e.metaKey) && e.key === 'f')) { e.preventDefault(); $('search').focus(); $('search').select(); }
  else if (e.key === 'Escape') back();
  else if (e.key === 'f' && !e.ctrlKey && !e.metaKey) setView('flame');
  else if (e.key === 'i') setView('inverted');
});
$('tables').addEventListener('click', function (e) {
  var tr = e.target.closest('tr[data-fn]');
  if (!tr) return;
  setView('around', +tr.dataset.fn);
  $('graph').scrollIntoView({block: 'start'});
});
$('reset').addEventListener('click', function () {
  state.filter = {threads: null, clock: 'all', range: null};
  state.kept = null;
  $('search').value = '';
  $('clock').value = 'all';
  $('thread').value = 'all';
  drawMap();
  showAll();
  setView('flame');
});

/* ---- the start ---- */

function showFacts() {
  var data = model.facts, list = document.querySelector('#facts dl');
  $('title').textContent = document.title = model.text(head.title);
  $('account').textContent = [model.text(head.account), model.text(head.target)].filter(Boolean).join(' \u00b7 ');
  data.forEach(function (fact) {
    list.appendChild(make('dt', fact[0]));
    list.appendChild(make('dd', fact[1]));
  });
  $('facts').hidden = !data.length;
}

function redraw() { drawMap(); chart.draw(); }
$('clock').addEventListener('change', function () { state.filter.clock = this.value; drawMap(); showAll(); });
document.querySelectorAll('[data-side]').forEach(function (b) {
  b.addEventListener('click', function () {
    chart.side = +b.dataset.side;
    document.querySelectorAll('[data-side]').forEach(function (o) { o.setAttribute('aria-pressed', o === b); });
    find();
    showChart();
  });
});
$('clock').hidden = !(head.runs && head.waits);
$('sides').hidden = !model.diff;
model.facts = JSON.parse($('shown').textContent);
showFacts();
startTime();
window.addEventListener('resize', redraw);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
showAll();
