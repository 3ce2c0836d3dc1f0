/** The parts of the console that few programs use. */
'use strict';
const { print, now } = require('./boot');
const { inspect, formatWithOptions } = require('inspect');
const counts = new Map();
const times = new Map();
const shownTime = (ms) => (ms >= 1000 ? `${(ms / 1000).toFixed(3)}s` : `${Number(ms.toPrecision(4))}ms`);
Object.assign(exports, {
  assert(isTrue, ...values) {
    if (isTrue) return;
    if (typeof values[0] === 'string') values[0] = `Assertion failed: ${values[0]}`;
    else values.unshift('Assertion failed');
    print.err(...values);
  },
  count(label = 'default') {
    counts.set(`${label}`, (counts.get(`${label}`) ?? 0) + 1);
    print.out(`${label}: ${counts.get(`${label}`)}`);
  },
  countReset(label = 'default') {
    counts.delete(`${label}`);
  },
  dir(value, options) {
    print.out(inspect(value, { customInspect: false, ...options }));
  },
  dirxml: print.out,
  time(label = 'default') {
    times.set(`${label}`, now());
  },
  timeLog(label = 'default', ...values) {
    const began = times.get(`${label}`);
    if (began !== undefined) print.out('%s: %s', label, shownTime(now() - began), ...values);
  },
  timeEnd(label = 'default') {
    exports.timeLog(label);
    times.delete(`${label}`);
  },
  trace(...values) {
    const error = { name: 'Trace', message: formatWithOptions({}, ...values) };
    Error.captureStackTrace(error, exports.trace);
    const frames = error.stack
      .split('\n')
      .slice(1)
      .filter((frame) => !frame.includes('(node:'));
    print.err(`Trace: ${error.message}\n${frames.join('\n')}`.trimEnd());
  },
  table(data, columns) {
    if (data === null || typeof data !== 'object') return print.out(data);
    const isMap = data instanceof Map;
    const isIterated = isMap || data instanceof Set;
    const shown = (value) =>
      inspect(value, {
        maxArrayLength: 3,
        breakLength: Number.POSITIVE_INFINITY,
        depth:
          value !== null && typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length > 2
            ? -1
            : 0,
      });
    const rows = isMap
      ? [...data]
      : data instanceof Set
        ? [...data].map((value, at) => [at, value])
        : Object.keys(data).map((key) => [key, data[key]]);
    const names = [];
    let hasValues = false;
    const cells = rows.map(([, value]) => {
      const cell = new Map();
      if (isMap || value === null || (typeof value !== 'object' && typeof value !== 'function')) {
        hasValues = true;
        return { cell, value: shown(value) };
      }
      for (const key of columns ?? Object.keys(value)) {
        if (!names.includes(key)) names.push(key);
        if (Object.hasOwn(value, key)) cell.set(key, shown(value[key]));
      }
      return { cell, value: undefined };
    });
    const index = isIterated ? '(iteration index)' : '(index)';
    const header = [index, ...(isMap ? ['Key'] : []), ...names, ...(hasValues ? ['Values'] : [])];
    const lines = rows.map(([key], at) => [
      isMap ? String(at) : String(key),
      ...(isMap ? [shown(key)] : []),
      ...names.map((name) => cells[at].cell.get(name) ?? ''),
      ...(hasValues ? [cells[at].value ?? ''] : []),
    ]);
    const widths = header.map(
      (name, at) => Math.max(...[name, ...lines.map((line) => line[at])].map((text) => [...text].length)) + 2,
    );
    const row = (texts) =>
      `│${texts.map((text, at) => ` ${text}${' '.repeat(widths[at] - [...text].length - 1)}`).join('│')}│`;
    const rule = (left, middle, right) => left + widths.map((width) => '─'.repeat(width)).join(middle) + right;
    print.out(
      [rule('┌', '┬', '┐'), row(header), rule('├', '┼', '┤'), ...lines.map(row), rule('└', '┴', '┘')].join('\n'),
    );
  },
});
