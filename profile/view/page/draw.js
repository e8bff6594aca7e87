/* draw: boxes of a model on a canvas of the window's height, which scrolls in its own frame: rows that are not seen are not
 * drawn, boxes below half a pixel are left out. */
var ROW = 19, LEAST = 0.5;

function hash(name) {
  var h = 2166136261;
  for (var i = 0; i < name.length; i++) h = Math.imul(h ^ name.charCodeAt(i), 16777619) >>> 0;
  return h;
}

/* By kind: warm for the program's functions, violet for interpreted ones, blue for the kernel's, green for waits. */
function Colors(model) {
  var kept = [];
  var hues = {2: [198, 24, 58, 74], 5: [262, 28, 62, 80], 6: [300, 26, 55, 80], 8: [132, 30, 34, 72], 9: [60, 1, 0, 72], 7: [60, 1, 0, 72]};
  return function (f) {
    if (f < 0) return 'hsl(220,12%,80%)';
    if (kept[f] === undefined) {
      var h = hash(model.names[f]), k = hues[model.kinds[f]];
      kept[f] = k ? 'hsl(' + (k[0] + h % k[1]) + ',' + k[2] + '%,' + (k[3] + h % 5) + '%)'
        : 'hsl(' + (12 + h % 40) + ',' + (72 + h % 20) + '%,' + (64 + h % 11) + '%)';
    }
    return kept[f];
  };
}

/* Red: a larger share than before; blue: a smaller one; pale: little of its own, or perhaps chance. */
function change(model, w) {
  var before = w[0] / (model.all[0] || 1), after = w[1] / (model.all[1] || 1), d = after - before;
  var error = Math.sqrt(before / (model.all[0] || 1) + after / (model.all[1] || 1));
  var part = Math.abs(d) / (Math.max(before, after) || 1) * (1 - Math.exp(-Math.abs(d) / (2 * error || 1)));
  return 'hsl(' + (d > 0 ? 4 : 214) + ',' + Math.round(18 + 66 * part) + '%,' + Math.round(90 - 26 * part) + '%)';
}

/* place: the element that scrolls; tall: what scrolls in it; canvas: in that, sticky. */
function Chart(model, place, canvas, tall) {
  var chart = {root: null, zoomed: null, halves: null, side: model.diff ? 1 : 0, hits: null, chosen: null, drawn: [], base: 0};
  var context = canvas.getContext('2d'), colorOf = Colors(model), letter = 7, style = getComputedStyle(document.documentElement);

  function weight(b) { return b.w[chart.side]; }
  function nameOf(b) { return b.fn < 0 ? 'all' : model.names[b.fn]; }

  function paint(b, x, width, y) {
    var hit = chart.hits && b.fn >= 0 && chart.hits[b.fn];
    context.fillStyle = hit ? '#8f6bff' : model.diff ? change(model, b.w) : colorOf(b.fn);
    context.globalAlpha = chart.zoomed && b.depth < chart.zoomed.depth && !chart.halves ? 0.55 : chart.hits && !hit ? 0.45 : 1;
    context.fillRect(x, y, Math.max(width - (width > 3 ? 1 : 0), 0.5), ROW - 1);
    context.globalAlpha = 1;
    if (b === chart.chosen) {
      context.strokeStyle = style.getPropertyValue('--fg');
      context.lineWidth = 2;
      context.strokeRect(x + 1, y + 1, Math.max(width - 3, 1), ROW - 3);
    }
    var room = Math.floor((width - 8) / letter), name = nameOf(b);
    if (room < 3) return;
    context.fillStyle = hit ? '#fff' : '#15171c';
    context.fillText(name.length <= room ? name : name.slice(0, room - 1) + '\u2026', x + 4, y + ROW - 6);
  }

  function put(b, x, width, row, top, bottom) {
    var y = row * ROW - top;
    if (y < -ROW || y > bottom) return;
    (chart.drawn[row] = chart.drawn[row] || []).push([x, width, b]);
    paint(b, x, width, y);
  }

  /* A box over the whole width, and what is behind it, row after row in one direction. Returns how many rows. */
  function spread(from, row, direction, top, bottom, width) {
    var todo = [[from, 0, row]], deepest = 0, scale = weight(from) ? width / weight(from) : 0;
    while (todo.length) {
      var t = todo.pop(), b = t[0], x = t[1], w = b === from ? width : weight(b) * scale;
      put(b, x, w, t[2], top, bottom);
      deepest = Math.max(deepest, Math.abs(t[2] - row));
      var kids = model.kids(b), i;
      for (i = 0; i < kids.length; i++) {
        w = weight(kids[i]) * scale;
        if (w >= LEAST) todo.push([kids[i], x, t[2] + direction]);
        x += w;
      }
    }
    return deepest + 1;
  }

  /* How many rows lie behind a box. */
  function depthOf(from, width) {
    var todo = [[from, 1]], deepest = 0, scale = weight(from) ? width / weight(from) : 0;
    while (todo.length) {
      var t = todo.pop();
      deepest = Math.max(deepest, t[1]);
      model.kids(t[0]).forEach(function (k) { if (weight(k) * scale >= LEAST) todo.push([k, t[1] + 1]); });
    }
    return deepest;
  }

  function clear(width, height) {
    var ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = width + 'px';
    canvas.style.height = height + 'px';
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = '12px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace';
    letter = context.measureText('mmmmmmmmmm').width / 10;
    chart.drawn = [];
  }

  function rowsOf(width) {
    if (chart.halves) {
      chart.base = depthOf(chart.halves.callers, width) - 1;
      return chart.base + depthOf(chart.halves.callees, width);
    }
    return chart.zoomed.depth + depthOf(chart.zoomed, width);
  }

  chart.draw = function () {
    var rows = rowsOf(place.clientWidth);
    tall.style.height = rows * ROW + 'px';
    var width = place.clientWidth, seen = Math.min(place.clientHeight, rows * ROW); /* the bar has come, or gone */
    clear(width, seen);
    var top = place.scrollTop;
    if (chart.halves) {
      spread(chart.halves.callees, chart.base, 1, top, seen, width);
      spread(chart.halves.callers, chart.base, -1, top, seen, width);
      return;
    }
    for (var b = chart.zoomed.above; b; b = b.above) put(b, 0, width, b.depth, top, seen);
    spread(chart.zoomed, chart.zoomed.depth, 1, top, seen, width);
  };

  /* The box at a point of the canvas, or null. */
  chart.at = function (x, y) {
    var row = chart.drawn[Math.floor((y + place.scrollTop) / ROW)] || [];
    for (var i = 0; i < row.length; i++) if (x >= row[i][0] && x < row[i][0] + row[i][1]) return row[i][2];
    return null;
  };

  /* Show a tree from its root, zoomed along a path of functions as far as there is one. */
  chart.show = function (root, path) {
    chart.root = chart.zoomed = root;
    chart.halves = chart.chosen = null;
    (path || []).every(function (f) {
      var next = model.kids(chart.zoomed).filter(function (k) { return k.fn === f && weight(k); })[0];
      if (next) chart.zoomed = next;
      return !!next;
    });
  };
  chart.showAround = function (halves) {
    chart.halves = halves;
    chart.root = chart.zoomed = halves.callees;
    chart.chosen = null;
  };
  chart.path = function () {
    var path = [];
    for (var b = chart.zoomed; b && b.above; b = b.above) path.unshift(b.fn);
    return path;
  };
  chart.zoom = function (b) {
    chart.zoomed = b;
    chart.draw();
  };

  /* The box next to the chosen one: 'out', 'in', 'left', 'right'. */
  chart.step = function (way) {
    var b = chart.chosen || chart.zoomed, kids = way === 'in' ? model.kids(b) : b.above ? model.kids(b.above) : [], to = null;
    kids = kids.filter(weight);
    if (way === 'out') to = b.above;
    else if (way === 'in') kids.forEach(function (k) { if (!to || weight(k) > weight(to)) to = k; });
    else to = kids[kids.indexOf(b) + (way === 'left' ? -1 : 1)];
    chart.chosen = to || b;
    if (chart.zoomed.depth > chart.chosen.depth) chart.zoomed = chart.chosen;
    chart.draw();
    return chart.chosen;
  };
  return chart;
}
