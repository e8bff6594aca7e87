/* The page of a batch: zoom and search in the flame graph. x' = (x - zoom.x) / zoom.w for everything inside. */
'use strict';
const flame = (function () {
  const svg = document.querySelector('svg.flame');
  if (!svg) return {find() {}};
  const boxes = [...svg.children].map(g => {
    const title = g.querySelector('title').textContent;
    return {g, title, name: title.slice(0, title.lastIndexOf(' (')), text: g.querySelector('text'), x: parseFloat(g.getAttribute('x')),
      w: parseFloat(g.getAttribute('width')), y: +g.getAttribute('y')};
  });
  const of = new Map(boxes.map(b => [b.g, b])), whole = boxes[0];
  let zoomed = whole;
  function zoom(to) {
    zoomed = to;
    boxes.forEach(b => {
      const above = b.y > to.y, slack = 1e-4;
      const inside = above ? b.x <= to.x + slack && b.x + b.w >= to.x + to.w - slack
        : b.x >= to.x - slack && b.x + b.w <= to.x + to.w + slack;
      b.g.style.display = inside ? '' : 'none';
      if (!inside) return;
      b.g.classList.toggle('above', above);
      b.g.setAttribute('x', above ? '0%' : 100 * (b.x - to.x) / to.w + '%');
      b.g.setAttribute('width', above ? '100%' : 100 * b.w / to.w + '%');
      b.text.textContent = b.name;
    });
    $('whole').disabled = to === whole;
    $('find').disabled = to === whole;
    $('flamename').textContent = to.title;
  }
  const boxOf = target => of.get(target.closest('.flame > svg'));
  svg.addEventListener('click', e => { const b = boxOf(e.target); if (b) zoom(b); });
  svg.addEventListener('mouseover', e => { const b = boxOf(e.target); if (b) $('flamename').textContent = b.title; });
  svg.addEventListener('mouseleave', () => { $('flamename').textContent = zoomed.title; });
  $('whole').addEventListener('click', () => zoom(whole));
  $('find').addEventListener('click', () => { $('search').value = zoomed.name; show(); $('clusters').scrollIntoView(); });
  $('flamebar').hidden = false;
  return {
    find(wanted) {
      boxes.forEach(b => b.g.classList.toggle('hit', wanted.length > 0 && wanted.every(w => b.name.toLowerCase().includes(w))));
    },
  };
})();
