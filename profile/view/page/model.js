/* model: the profile's tables as trees with weights. Numbers of functions go on with what is no function: waits, and the
 * lack of a stack. Two profiles may be in the data (`compares`): sums of threads before `split` are of the first, the others of the
 * second; weights then come in pairs, and `side` tells which one is looked at (1: the second). */
function Model(data) {
  var T = data.texts, tables = data.tables, head = {}, column;
  for (column in tables.head) head[column] = tables.head[column][0];
  var functions = tables.functions, frames = tables.frames, nodes = tables.nodes, sums = tables.sums, parts = tables.parts;
  var threads = tables.threads, waits = tables.waits, split = data.split || 0;
  var F = functions.name.length, W = waits.text.length, NO_STACK = F + W;
  var KERNEL = 2, WAIT = 8, NONE = 9;

  function text(number) { return number ? T[number] : ''; }

  /* Functions: name, module, kind. */
  var names = functions.name.map(function (n) { return text(n) || '??'; });
  var kinds = new Uint8Array(F + W + 1), i;
  for (i = 0; i < frames.function.length; i++)
    if (frames.kind[i] !== 1) kinds[frames.function[i]] = frames.kind[i];
  for (i = 0; i < W; i++) { names.push('[waits: ' + (text(waits.text[i]) || '?') + ']'); kinds[F + i] = WAIT; }
  names.push('[no stack]');
  kinds[NO_STACK] = NONE;
  var rank = new Uint32Array(names.length);
  names.map(function (_, f) { return f; }).sort(function (a, b) { return names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b; })
    .forEach(function (f, place) { rank[f] = place; });

  /* The tree of functions: nodes that differ only in lines are one. A caller precedes its callees. */
  var parent = [0], fn = [-1], known = new Map();
  function child(of, f) {
    var key = of * (names.length + 1) + f, at = known.get(key);
    if (at === undefined) {
      at = parent.length;
      known.set(key, at);
      parent.push(of);
      fn.push(f);
    }
    return at;
  }
  var merged = new Uint32Array(nodes.parent.length);
  for (i = 1; i < merged.length; i++)
    merged[i] = child(merged[nodes.parent[i]], frames.function[nodes.frame[i]]);
  var place = new Uint32Array(sums.stack.length);
  for (i = 0; i < place.length; i++) {
    var at = sums.stack[i] ? merged[sums.stack[i]] : child(0, NO_STACK);
    place[i] = sums.wait[i] ? child(at, F + sums.wait[i]) : at;
  }
  known = null;
  var N = parent.length;
  parent = Uint32Array.from(parent);
  fn = Int32Array.from(fn);

  /* Callees of each node, by name: kids[first[n]] to kids[first[n + 1]]. Sorted by counting, twice. */
  var first = new Uint32Array(N + 1), kids = new Uint32Array(N), byRank = new Uint32Array(names.length + 1);
  for (i = 1; i < N; i++) { first[parent[i] + 1]++; byRank[rank[fn[i]] + 1]++; }
  for (i = 0; i < N; i++) first[i + 1] += first[i];
  for (i = 0; i < names.length; i++) byRank[i + 1] += byRank[i];
  var ordered = new Uint32Array(N), next = first.slice();
  for (i = 1; i < N; i++) ordered[byRank[rank[fn[i]]]++] = i;
  for (i = 0; i < N - 1; i++) kids[next[parent[ordered[i]]]++] = ordered[i];

  var model = {
    head: head, names: names, kinds: kinds, threads: threads, split: split, diff: !!data.compares, KERNEL: KERNEL, WAIT: WAIT,
    text: text, parent: parent, fn: fn, size: N, functionCount: F,
    module: function (f) { return f < F ? text(functions.module[f]) : ''; },
    language: function (f) { return f < F ? text(functions.language[f]) : ''; },
    slices: head.slices, perSample: head.period,
    all: [0, 0], self: [null, null], total: [null, null]
  };

  function passes(filter) {
    var ok = new Uint8Array(sums.stack.length);
    for (var s = 0; s < ok.length; s++)
      ok[s] = (!filter.threads || filter.threads.has(sums.thread[s])) &&
        (filter.clock === 'all' || (filter.clock === 'off') === (sums.wait[s] > 0)) ? 1 : 0;
    return ok;
  }

  /* Weights by the filter: threads (a Set, or null), clock ('all', 'cpu', 'off'), range ([from, to) in slices, or null). */
  model.weigh = function (filter) {
    var ok = passes(filter), weight = new Float64Array(ok.length), s, side;
    if (filter.range) {
      for (s = 0; s < parts.sum.length; s++)
        if (ok[parts.sum[s]] && parts.slice[s] >= filter.range[0] && parts.slice[s] < filter.range[1])
          weight[parts.sum[s]] += parts.samples[s];
    } else {
      for (s = 0; s < ok.length; s++) if (ok[s]) weight[s] = sums.samples[s];
    }
    model.weight = weight;
    for (side = 0; side < (model.diff ? 2 : 1); side++) {
      var self = new Float64Array(N), total;
      for (s = 0; s < ok.length; s++)
        if (!model.diff || (sums.thread[s] >= split ? 1 : 0) === side) self[place[s]] += weight[s];
      total = self.slice();
      for (s = N - 1; s > 0; s--) total[parent[s]] += total[s];
      model.self[side] = self;
      model.total[side] = total;
      model.all[side] = total[0];
    }
  };

  /* A box: a function below the boxes above it. list: nodes of the tree; up: their weights, where the box leads to callers. */
  function box(f, above) {
    return {fn: f, above: above, depth: above ? above.depth + 1 : 0, list: [], up: null, w: [0, 0], kids: null};
  }
  function addTo(b, node, weights) {
    b.list.push(node);
    if (b.up) { b.up[0].push(weights[0]); b.up[1].push(weights[1]); }
    b.w[0] += weights[0];
    b.w[1] += weights[1];
  }
  function weightsOf(node, which) {
    return [model[which][0][node], model.diff ? model[which][1][node] : 0];
  }
  function sorted(groups) {
    return Array.from(groups.values()).sort(function (a, b) { return rank[a.fn] - rank[b.fn]; });
  }
  function down(b) {
    var groups = new Map(), i, k, node, g;
    for (i = 0; i < b.list.length; i++)
      for (k = first[b.list[i]]; k < first[b.list[i] + 1]; k++) {
        node = kids[k];
        if (!model.total[0][node] && !(model.diff && model.total[1][node])) continue;
        g = groups.get(fn[node]);
        if (!g) groups.set(fn[node], g = box(fn[node], b));
        addTo(g, node, weightsOf(node, 'total'));
      }
    return sorted(groups);
  }
  function up(b) {
    var groups = new Map(), i, caller, g;
    for (i = 0; i < b.list.length; i++) {
      caller = parent[b.list[i]];
      if (!caller) continue;
      g = groups.get(fn[caller]);
      if (!g) { groups.set(fn[caller], g = box(fn[caller], b)); g.up = [[], []]; }
      addTo(g, caller, [b.up[0][i], b.up[1][i]]);
    }
    return sorted(groups);
  }
  model.kids = function (b) {
    if (!b.kids) b.kids = b.up ? up(b) : down(b);
    return b.kids;
  };

  model.flame = function () {
    var b = box(-1, null);
    addTo(b, 0, weightsOf(0, 'total'));
    return b;
  };
  model.inverted = function () {
    var b = box(-1, null), groups = new Map(), g;
    b.w = weightsOf(0, 'total');
    b.up = [[], []];
    for (var i = 1; i < N; i++) {
      if (!model.self[0][i] && !(model.diff && model.self[1][i])) continue;
      g = groups.get(fn[i]);
      if (!g) { groups.set(fn[i], g = box(fn[i], b)); g.up = [[], []]; }
      addTo(g, i, weightsOf(i, 'self'));
    }
    b.kids = sorted(groups);
    return b;
  };

  /* Visit nodes whose function is `wanted` (a test) and that have no such node above; each once. */
  function outermost(wanted, visit) {
    var hidden = new Uint8Array(N);
    for (var i = 1; i < N; i++) {
      var is = wanted(fn[i], i);
      hidden[i] = hidden[parent[i]] || is ? 1 : 0;
      if (is && !hidden[parent[i]]) visit(i);
    }
  }
  /* The two halves of a sandwich: what a function calls, and what calls it. */
  model.around = function (f) {
    var callees = box(f, null), callers = box(f, null);
    callers.up = [[], []];
    outermost(function (g) { return g === f; }, function (node) {
      addTo(callees, node, weightsOf(node, 'total'));
      addTo(callers, node, weightsOf(node, 'total'));
    });
    return {callees: callees, callers: callers};
  };

  /* The weight of all stacks with a function that matches. */
  model.matched = function (hits, side) {
    var sum = 0;
    outermost(function (f) { return hits[f]; }, function (node) { sum += model.total[side][node]; });
    return sum;
  };

  /* Functions that have weight: {fn, self, total}, each in pairs. */
  model.functions = function () {
    var self = [0, 1].map(function () { return new Float64Array(names.length); });
    var total = [0, 1].map(function () { return new Float64Array(names.length); });
    var open = new Uint32Array(names.length), rows = [], node = 0, k = first.slice(), side, f;
    for (side = 0; side < (model.diff ? 2 : 1); side++)
      for (f = 1; f < N; f++) self[side][fn[f]] += model.self[side][f];
    for (;;) { /* in depth: a function that calls itself counts once */
      if (k[node] < first[node + 1]) {
        node = kids[k[node]++];
        if (open[fn[node]]++ === 0)
          for (side = 0; side < (model.diff ? 2 : 1); side++) total[side][fn[node]] += model.total[side][node];
      } else if (node) {
        open[fn[node]]--;
        node = parent[node];
      } else {
        break;
      }
    }
    for (f = 0; f < names.length; f++)
      if (total[0][f] || total[1][f]) rows.push({fn: f, self: [self[0][f], self[1][f]], total: [total[0][f], total[1][f]]});
    return rows;
  };

  /* Lines by their own weight: {fn, file, line, self}. */
  model.lines = function () {
    var own = new Float64Array(frames.function.length), rows = [], s;
    for (s = 0; s < place.length; s++)
      if (sums.stack[s] && (!model.diff || sums.thread[s] >= split)) own[nodes.frame[sums.stack[s]]] += model.weight[s];
    for (s = 0; s < own.length; s++)
      if (own[s] && frames.line[s])
        rows.push({fn: frames.function[s], file: text(frames.file[s]), line: frames.line[s], self: own[s]});
    return rows.sort(function (a, b) { return b.self - a.self; });
  };

  /* Threads by weight, of the whole time: {thread, weight}. */
  model.busyThreads = function () {
    var weight = new Float64Array(threads.tid.length);
    for (var s = 0; s < place.length; s++) weight[sums.thread[s]] += sums.samples[s];
    return Array.from(weight, function (w, t) { return {thread: t, weight: w}; })
      .sort(function (a, b) { return b.weight - a.weight; });
  };

  /* Weight by time: for rows of threads (row[thread], or -1) and `bins` columns; the clock is that of the filter. */
  model.heat = function (row, rows, bins, clock) {
    var cells = new Float64Array(rows * bins), ok = passes({clock: clock}), p, s;
    for (p = 0; p < parts.sum.length; p++) {
      s = parts.sum[p];
      if (!ok[s] || row[sums.thread[s]] < 0) continue;
      cells[row[sums.thread[s]] * bins + Math.floor(parts.slice[p] * bins / head.slices)] += parts.samples[p];
    }
    return cells;
  };
  return model;
}
