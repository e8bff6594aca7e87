/* time: threads over time as a map of their weight, in which a part of the time is chosen, and threads. */
var MAP_ROW = 14, MOST_ROWS = 12, mapRows = [], mapRow = null;

/* The busiest threads have a row each, all others share the last. */
function startTime() {
  var busy = model.busyThreads().filter(function (t) { return t.weight; }), names = new Map(), select = $('thread');
  var nothing = model.slices < 2 || model.diff || !busy.length;
  $('time').hidden = nothing;
  mapRow = new Int32Array(model.threads.tid.length).fill(-1);
  busy.forEach(function (t, i) {
    var row = busy.length <= MOST_ROWS || i < MOST_ROWS - 1 ? i : MOST_ROWS - 1;
    mapRow[t.thread] = row;
    (mapRows[row] = mapRows[row] || []).push(t.thread);
  });
  function label(t) { return (model.text(model.threads.name[t]) || 'thread') + ' ' + model.threads.tid[t]; }
  function option(text, set) {
    var o = make('option', text);
    o.value = select.options.length ? String(select.options.length) : 'all';
    o.set = set;
    select.appendChild(o);
  }
  busy.forEach(function (t) {
    var name = model.text(model.threads.name[t.thread]);
    if (name) names.set(name, (names.get(name) || []).concat(t.thread));
  });
  option('all threads', null);
  if (names.size > 1 || busy.length > names.size)
    names.forEach(function (of, name) { if (of.length > 1 && of.length < busy.length) option('all ' + of.length + ' \u201c' + name + '\u201d', new Set(of)); });
  busy.slice(0, 1000).forEach(function (t) { option(label(t.thread), new Set([t.thread])); });
  select.hidden = busy.length < 2 || model.diff;
  select.addEventListener('change', function () { chooseThreads(select.selectedOptions[0].set); });
  mapRows.forEach(function (of, row) {
    var div = make('div', of.length === 1 ? label(of[0]) : of.length + ' other threads');
    div.title = div.textContent;
    div.addEventListener('click', function () {
      var on = div.classList.contains('on');
      select.selectedIndex = 0;
      chooseThreads(on ? null : new Set(of));
    });
    $('labels').appendChild(div);
  });
  if (!nothing) drawMap();
}

function chooseThreads(set) {
  state.filter.threads = set;
  drawMap();
  showAll();
}

function bins() { return Math.min(model.slices, Math.max(20, Math.floor($('map').clientWidth / 4))); }

function drawMap() {
  if ($('time').hidden) return;
  var map = $('map'), width = map.clientWidth, height = mapRows.length * MAP_ROW, ratio = devicePixelRatio || 1, n = bins();
  var cells = model.heat(mapRow, mapRows.length, n, state.filter.clock), most = 0, context = map.getContext('2d');
  var dark = matchMedia('(prefers-color-scheme: dark)').matches, range = state.filter.range;
  map.style.height = height + 'px';
  map.width = Math.round(width * ratio);
  map.height = Math.round(height * ratio);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = dark ? '#23272f' : '#f1f3f6';
  context.fillRect(0, 0, width, height);
  for (var c = 0; c < cells.length; c++) { /* of a row of several threads, what one has */
    cells[c] /= mapRows[Math.floor(c / n)].length;
    most = Math.max(most, cells[c]);
  }
  for (var i = 0; i < cells.length; i++) {
    if (!cells[i]) continue;
    var heat = Math.sqrt(cells[i] / most), row = Math.floor(i / n), x = Math.floor(i % n * width / n);
    context.fillStyle = dark ? 'hsl(' + (16 + 30 * heat) + ',80%,' + (22 + 42 * heat) + '%)' : 'hsl(' + (38 - 34 * heat) + ',85%,' + (84 - 38 * heat) + '%)';
    context.fillRect(x, row * MAP_ROW, Math.ceil((i % n + 1) * width / n) - x, MAP_ROW - 1);
  }
  if (range) {
    context.fillStyle = dark ? '#14161acc' : '#ffffffb8';
    var from = range[0] / model.slices * width, to = range[1] / model.slices * width;
    context.fillRect(0, 0, from, height);
    context.fillRect(to, 0, width - to, height);
    context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue('--fn');
    context.strokeRect(from + 0.5, 0.5, Math.max(1, to - from - 1), height - 1);
  }
  Array.from($('labels').children).forEach(function (div, row) {
    var set = state.filter.threads;
    div.classList.toggle('on', !!set && set.size === mapRows[row].length && mapRows[row].every(function (t) { return set.has(t); }));
  });
  $('range').textContent = range ? seconds(range[0] * head.slice_ns / 1e9) + ' to ' + seconds(Math.min(range[1] * head.slice_ns, head.length_ns) / 1e9) + ' of ' + seconds(head.length_ns / 1e9) + ' (Escape or a click: all)'
    : seconds(head.length_ns / 1e9) + ', threads by row: drag to choose a part';
}

function chooseRange(range) {
  state.filter.range = range;
  drawMap();
  showAll();
}

(function () {
  var map = $('map'), begun = null;
  function sliceAt(e) {
    var r = map.getBoundingClientRect();
    return Math.max(0, Math.min(model.slices, (e.clientX - r.left) / r.width * model.slices));
  }
  function between(a, b) { return [Math.floor(Math.min(a, b)), Math.max(Math.floor(Math.min(a, b)) + 1, Math.ceil(Math.max(a, b)))]; }
  map.addEventListener('pointerdown', function (e) { begun = sliceAt(e); map.setPointerCapture(e.pointerId); });
  map.addEventListener('pointermove', function (e) {
    if (begun === null) return;
    state.filter.range = between(begun, sliceAt(e));
    drawMap();
  });
  map.addEventListener('pointerup', function (e) {
    var to = sliceAt(e), few = Math.abs(to - begun) / model.slices * map.clientWidth < 3;
    chooseRange(few ? null : between(begun, to));
    begun = null;
  });
  map.addEventListener('keydown', function (e) {
    var range = state.filter.range || [0, model.slices], step = Math.max(1, Math.round(model.slices / 50)), way = {ArrowLeft: -1, ArrowRight: 1}[e.key];
    if (e.key === 'Escape' && state.filter.range) {
      e.stopPropagation();
      chooseRange(null);
    } else if (way) { /* moves the part; with Shift, its end */
      e.preventDefault();
      var length = range[1] - range[0] === model.slices && !e.shiftKey ? 5 * step : range[1] - range[0];
      var from = e.shiftKey ? range[0] : Math.max(0, Math.min(model.slices - length, range[0] + way * step));
      chooseRange(e.shiftKey ? [from, Math.max(from + 1, Math.min(model.slices, range[1] + way * step))] : [from, from + length]);
    }
  });
})();
