/* The page of a batch: an open cluster: the verdict, the compared stack, its cores. */
'use strict';

const WHY = {
  above: 'how a program ends', leaf: 'skipped', below: 'start-up code', repeated: 'repeats', handler: 'crash handler',
  policy: 'your policy',
};

function marks(row) {
  const said = [];
  if (row[8] & 1) said.push('inlined');
  if (row[8] & 2) said.push('signal handler called');
  if (string(row[7]) === 'scan') said.push('guess: found by stack scan');
  if (string(row[7]) === 'fp') said.push('by frame pointer');
  if (row[8] & 4) said.push('module unverified');
  return said.length ? el('span', 'tag' + (row[8] & 4 || string(row[7]) === 'scan' ? ' doubt' : ''), said.join(', ')) : null;
}

/* The location: the line, else the module and offset. */
function place(row) {
  if (row[5]) return el('span', 'place', found(string(row[5])), row[6] ? el('span', 'line', ':' + row[6]) : null);
  return row[2] ? el('span', 'place', found(string(row[2])), row[4] ? '+' + string(row[4]) : null) : null;
}

function frame(row, index, turn) {
  const fate = string(row[9]), kept = fate === 'kept';
  const line = el('div', kept ? 'kept' : 'skipped', el('span', 'n', '#' + index), ' ',
    el('span', 'fn', found(string(row[0]) || string(row[1]))), ' ', place(row), marks(row));
  if (turn >= 0) line.append(el('span', 'tag counts', 'counts, ' + (turn + 1)));
  else line.append(el('span', 'tag', kept ? 'kept' : WHY[fate] || fate));
  if (row[10]) line.append(el('span', 'quiet', string(row[10])));
  if (row[0] && row[1] && row[0] !== row[1]) line.title = 'compared as ' + string(row[1]);
  return line;
}

function stack(c) {
  const box = el('div', c.stack.length > 40 ? 'stack scroll' : 'stack');
  const gap = () => el('div', 'ends', '\u22ee ' + plural(c.elided || 0, 'frame') + ' left out' +
    (c.cycle ? '; in all ' + string(c.cycle) : ''));
  c.stack.forEach((number, i) => {
    if (c.elided && i === (c.elided_at || 0)) box.append(gap());
    if (rows[number][11]) box.append(el('div', 'of', found(string(rows[number][11]))));
    box.append(frame(rows[number], i, c.kept.indexOf(i)));
  });
  if (c.elided && (c.elided_at || 0) >= c.stack.length) box.append(gap());
  else if (c.cycle && !c.elided) box.append(el('div', 'ends', '\u22ee repeats: ' + string(c.cycle)));
  if (c.stop && !c.complete) box.append(el('div', 'ends', 'stack ends here: ', found(string(c.stop))));
  if (!c.stack.length) box.append(el('div', 'quiet', 'no stack'));
  return box;
}

function facts(pairs) {
  const list = el('dl', 'facts');
  pairs.filter(([, value]) => value !== null && value !== undefined).forEach(([label, value]) =>
    list.append(el('dt', '', label), el('dd', '', value)));
  return list.childElementCount ? list : null;
}

const code = text => el('code', '', found(text));
const lines = text => el('pre', '', found(text));

function verdict(c) {
  const tag = (number, before) => number ? el('span', 'tag', (before || '') + string(number)) : null;
  return [
    c.headline ? el('h3', '', found(string(c.headline))) : null,
    el('div', 'tags', tag(c.severity, 'severity '), tag(c.confidence), tag(c.class), tag(c.kind), tag(c.signal)),
    facts([
      ['note', known(c.note)],
      [string(c.state), known(c.why)],
      ['expires', known(c.expires)],
      ['also', known(c.also)],
      ['function', known(c.function, code)],
      ['where', c.place ? el('code', '', spot(c.place)) : null],
      ['cause', known(c.cause)],
      ['expression', known(c.expression, code)],
      ['origin', known(c.origin)],
      ['says', known(c.message, lines)],
      ['thread', c.thread || c.threads > 1 ? el('span', '', found(string(c.thread)), c.threads > 1 ?
        (c.thread ? ', one of ' : 'one of ') + count(c.threads) : null) : null],
    ]),
  ];
}

/* Keys are shown abbreviated; a click selects the whole key. */
function keys(c) {
  const key = number => number ? el('code', '', string(number)) : null;
  return facts([
    ['signature', el('span', '', found(string(c.names)))], ['compared as', known(c.group)], ['sig', key(c.sig)],
    ['sig_exact', key(c.exact)], ['sig_loose', key(c.loose)], ['doubt', known(c.doubt)],
  ]);
}

function totals(c) {
  const builds = new Set(c.members.map(m => m[1] + '/' + m[2])).size, copies = c.members.filter(m => m[5]).length;
  const said = [plural(c.members.length, 'core'), plural(builds, 'build')];
  if (c.unique > 1) said.push(plural(c.unique, 'different trace'));
  if (programs(c).size > 1) said.push(plural(programs(c).size, 'program'));
  if (copies) said.push(copies === 1 ? '1 is a copy of another' : count(copies) + ' are copies of others');
  return said.join(' \u00b7 ');
}

function member(m, c, traces) {
  const short = number => {
    const cell = el('td', 'short', found(string(number).slice(0, 12)));
    cell.title = string(number);
    return cell;
  };
  const said = [];
  if (c.members[c.shown || 0] === m) said.push(el('span', 'tag medium', 'shown'));
  if (m[12]) said.push(el('span', 'tag', 'guess'), ' by its first frames alone');
  if (m[5]) said.push(el('span', 'tag', 'copy'), found(' of ' + string(m[5])));
  if (+m[8]) said.push(el('span', 'tag problem', 'cut'), ' ' + bytes(m[8]) + ' missing');
  return [el('tr', '', el('td', '', found(string(m[0]))), el('td', '', found(string(m[1]))), short(m[2]), el('td', '', known(m[3])),
    el('td', 'short', string(m[4])), el('td', 'right', bytes(m[7])), el('td', 'right', '#' + traces.get(m[6])),
    el('td', 'right', m[9] + '%'), el('td', '', ...said))];
}

function members(c) {
  const traces = new Map(), head = el('tr'), body = el('tbody'), more = el('button');
  c.members.forEach(m => { if (!traces.has(m[6])) traces.set(m[6], traces.size + 1); });
  ['CORE', 'PROGRAM', 'BUILD-ID', 'PACKAGE', 'ARCH', 'STORED', 'TRACE', 'QUALITY', ''].forEach(label => head.append(
    el('th', /STORED|TRACE|QUALITY/.test(label) ? 'right' : '', label)));
  more.type = 'button';
  const list = lazy(body, more, m => member(m, c, traces));
  list.set(c.members);
  return el('div', 'scroll', el('table', '', el('thead', '', head), body), more);
}

/* Missing modules, with the number of cores that name each. */
function absent(c) {
  const sums = [...tally(c.members, m => m[11])].sort((a, b) => b[1] - a[1] || (string(a[0]) < string(b[0]) ? -1 : 1));
  const cut = c.members.filter(m => m[10] > m[11].length).length;
  if (!sums.length) return [];
  const list = el('ul', 'mono');
  sums.slice(0, 200).forEach(([value, n]) => list.append(el('li', '', found(string(value)),
    el('span', 'quiet', ' \u2014 ' + count(n) + ' of ' + plural(c.members.length, 'core')))));
  if (sums.length > 200) list.append(el('li', 'quiet', count(sums.length - 200) + ' more'));
  if (cut) list.append(el('li', 'quiet', plural(cut, 'core') + ' with more than are named here'));
  return [el('h4', '', 'Modules without their file'), list];
}

function detail(c) {
  const cell = el('td');
  cell.colSpan = 7;
  if (!c.stack) cell.append(facts([['note', known(c.note)], ['', 'no core of it in this batch'], [string(c.state), known(c.why)]]));
  else cell.append(...verdict(c).filter(Boolean), el('h4', '', 'Stack of ', el('code', '', found(string(c.members[c.shown || 0][0])))),
    stack(c), ...absent(c),
    el('h4', '', totals(c)), members(c), el('h4', '', 'Keys'), keys(c));
  return el('tr', 'detail', cell);
}
