/** `perf_hooks`: the clock and marks. */
'use strict';
const { now } = require('./boot');
const entries = [];
const add = (entryType, name, startTime, duration, detail = null) => {
  const entry = { name, entryType, startTime, duration, detail };
  entries.push(entry);
  return entry;
};
const timeOf = (mark, otherwise) =>
  mark === undefined
    ? otherwise
    : typeof mark === 'number'
      ? mark
      : (entries.findLast(({ name, entryType }) => name === mark && entryType === 'mark')?.startTime ?? otherwise);
const performance = {
  now,
  timeOrigin: Date.now() - now(),
  mark: (name, { startTime = now(), detail } = {}) => add('mark', String(name), startTime, 0, detail),
  measure: (name, from, to) => {
    const { start, end } = from !== null && typeof from === 'object' ? from : { start: from, end: to };
    const began = timeOf(start, 0);
    return add('measure', String(name), began, timeOf(end, now()) - began);
  },
  getEntries: () => [...entries],
  getEntriesByName: (name) => entries.filter((entry) => entry.name === name),
  getEntriesByType: (type) => entries.filter((entry) => entry.entryType === type),
  clearMarks: () => {
    entries.splice(0, entries.length, ...entries.filter(({ entryType }) => entryType !== 'mark'));
  },
  clearMeasures: () => {
    entries.splice(0, entries.length, ...entries.filter(({ entryType }) => entryType !== 'measure'));
  },
  toJSON() {
    return { timeOrigin: this.timeOrigin };
  },
};
exports.performance = performance;
