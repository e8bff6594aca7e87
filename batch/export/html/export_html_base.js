/* The page of a batch, first part: its data, and the elements that show text. export_html_data.c defines the form of the
 * data. Nothing in these files turns text into markup: elements are created one by one, and text stays text. */
'use strict';
document.documentElement.className = ''; /* the table is visible even if the rest fails */
const data = JSON.parse(document.getElementById('data').textContent);
const strings = data.strings, rows = data.rows, clusters = data.clusters;
const CHUNK = 100, PRINTED = 3000;
const $ = id => document.getElementById(id);
const count = n => n.toLocaleString('en-US');
const plural = (n, thing) => count(n) + ' ' + thing + (n === 1 ? '' : 's');

/* ---- elements ---- */

let words = []; /* that are searched for, in small letters */
let mark = null;

/* el('td', 'right', 'text', child…): strings become text. */
function el(tag, className, ...content) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...content.filter(c => c !== null && c !== undefined));
  return element;
}

/* Allows a line break after names of classes and namespaces. */
function soft(text) {
  const part = document.createDocumentFragment();
  text.split(/(?<=::)/).forEach((piece, i) => part.append(...(i ? [el('wbr'), piece] : [piece])));
  return part;
}

/* A string of the data, with matches of the search marked. */
function found(text) {
  const part = document.createDocumentFragment();
  String(text).split(mark || /$^/).forEach((piece, i) => { if (piece) part.append(i % 2 ? el('mark', '', soft(piece)) : soft(piece)); });
  return part;
}

const string = number => strings[number] || '';
const known = (number, show) => number ? (show || found)(string(number)) : null;

/* "src/session.c:210": the line number never breaks. */
function spot(number) {
  const [, file, line] = /^([^]*?)(:\d+)?$/.exec(string(number));
  return line ? el('span', '', found(file), el('span', 'line', found(line))) : found(file);
}

const bytes = n => {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let at = 0;
  for (n = Number(n); n >= 1024 && at < units.length - 1; at++) n /= 1024;
  return (at ? n.toPrecision(3) : n) + ' ' + units[at];
};

/* Adds items as table rows, a chunk at a time when the end comes near; more is the button after them. */
function lazy(body, more, make) {
  let items = [], at = 0;
  function step(size) {
    const part = document.createDocumentFragment();
    for (const end = Math.min(at + size, items.length); at < end; at++) part.append(...make(items[at]));
    body.append(part);
    more.hidden = at >= items.length;
    more.textContent = count(items.length - at) + ' more';
  }
  const near = () => !more.hidden && more.offsetParent && more.getBoundingClientRect().top < innerHeight + 800;
  function fill() {
    if (!near()) return;
    while (near()) step(CHUNK);
    watch.unobserve(more); // it tells of changes alone: one who scrolls to the new end before it looks again would see none
    watch.observe(more);
  }
  const watch = new IntersectionObserver(fill, {rootMargin: '800px'});
  watch.observe(more);
  more.addEventListener('click', () => step(CHUNK));
  return {
    set(list) { items = list; at = 0; body.textContent = ''; step(CHUNK); fill(); },
    atLeast(size) { if (size > at) step(size - at); },
  };
}

/* The number of items for each key. */
function tally(list, keys) {
  const sums = new Map();
  list.forEach(item => new Set(keys(item)).forEach(key => sums.set(key, (sums.get(key) || 0) + 1)));
  return sums;
}

const programs = c => new Set(c.members.map(m => m[1]));
