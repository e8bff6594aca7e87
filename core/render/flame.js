(function () {
'use strict';
var root = document.documentElement, canvas = document.getElementById('frames');
var details = document.getElementById('details'), matched = document.getElementById('matched');
var field = document.getElementById('search'), reset = document.getElementById('reset');
var whole = {x: 0, w: 1, depth: 0}, zoomed = whole, letter = 7.3;
var frames = [].map.call(canvas.querySelectorAll('g'), function (g) {
  var rect = g.querySelector('rect');
  return {g: g, rect: rect, text: g.querySelector('text'), title: g.querySelector('title').textContent,
    name: g.getAttribute('data-name'), depth: +g.getAttribute('data-depth'),
    x: parseFloat(rect.getAttribute('x')) / 100, w: parseFloat(rect.getAttribute('width')) / 100};
});
function measure() {
  var probe = document.getElementById('probe');
  var wide = probe.getComputedTextLength() / probe.textContent.length;
  if (wide > 0) letter = wide;
}
function label(frame, fraction) {
  var room = Math.floor((fraction * 0.98 * root.getBoundingClientRect().width - 6) / letter);
  return room < 3 ? '' : frame.name.length <= room ? frame.name : frame.name.slice(0, room - 1) + '\u2026';
}
function draw() {
  var slack = 1e-7;
  frames.forEach(function (f) {
    var above = f.depth < zoomed.depth, x = (f.x - zoomed.x) / zoomed.w, w = f.w / zoomed.w;
    var inside = above ? f.x <= zoomed.x + slack && f.x + f.w >= zoomed.x + zoomed.w - slack
      : f.x >= zoomed.x - slack && f.x + f.w <= zoomed.x + zoomed.w + slack;
    f.g.style.display = inside ? '' : 'none';
    if (!inside) return;
    f.g.classList.toggle('above', above);
    if (above) { x = 0; w = 1; }
    f.rect.setAttribute('x', 100 * x + '%');
    f.rect.setAttribute('width', 100 * w + '%');
    f.text.setAttribute('x', 100 * x + '%');
    f.text.textContent = label(f, w);
  });
  reset.disabled = zoomed === whole;
}
function zoom(frame) { zoomed = frame; draw(); }
function search() {
  var pattern = null, sum = 0, end = -1, byPlace;
  field.classList.remove('bad');
  try { if (field.value) pattern = new RegExp(field.value); } catch (e) { field.classList.add('bad'); }
  frames.forEach(function (f) { f.hit = !!pattern && pattern.test(f.name); f.g.classList.toggle('hit', f.hit); });
  /* A match below another match is part of it already: by place, outermost first, each part counts once. */
  byPlace = frames.filter(function (f) { return f.hit; })
    .sort(function (a, b) { return a.x - b.x || a.depth - b.depth; });
  byPlace.forEach(function (f) { if (f.x >= end - 1e-7) { sum += f.w; end = f.x + f.w; } });
  matched.textContent = pattern ? 'matched ' + (100 * sum).toFixed(2) + '%' : '';
}
function frameOf(target) {
  while (target && target !== canvas && target.nodeName !== 'g') target = target.parentNode;
  return frames.filter(function (f) { return f.g === target; })[0];
}
canvas.addEventListener('click', function (e) { var f = frameOf(e.target); if (f) zoom(f.depth ? f : whole); });
canvas.addEventListener('mouseover', function (e) { var f = frameOf(e.target); details.textContent = f ? f.title : ''; });
canvas.addEventListener('mouseleave', function () { details.textContent = ''; });
field.addEventListener('input', search);
reset.addEventListener('click', function () { zoom(whole); });
window.addEventListener('resize', draw);
window.addEventListener('keydown', function (e) {
  if ((e.ctrlKey || e.metaKey) && e.key === 'f' && document.activeElement !== field) {
    e.preventDefault(); field.focus(); field.select();
  } else if (e.key === 'Escape') { field.value = ''; search(); zoom(whole); field.blur(); }
});
root.classList.add('live');
measure(); draw();
})();
