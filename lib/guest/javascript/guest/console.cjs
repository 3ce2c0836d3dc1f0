/** The console. What knows objects is loaded for the first one that is printed. */
'use strict';
const define = Object.defineProperty;
const isTextual = (value) =>
  typeof value === 'string' ||
  (typeof value === 'number' && !Object.is(value, -0)) ||
  typeof value === 'boolean' ||
  value === null ||
  value === undefined;
/** What console.log prints of its arguments; the part that knows objects is loaded for one. */
const formatted = (values) => {
  const [first] = values;
  if (values.every(isTextual) && (values.length < 2 || typeof first !== 'string' || !first.includes('%')))
    return values.join === undefined ? '' : values.map(String).join(' ');
  return require('inspect').format(...values);
};
const console = {};
let indent = '';
const line =
  (stream) =>
  (...values) => {
    const text = formatted(values);
    host.say(stream, `${indent === '' ? text : indent + text.replaceAll('\n', `\n${indent}`)}\n`);
  };
const [out, err] = [line('stdout'), line('stderr')];
const named = (name, work) => define(work, 'name', { value: name, configurable: true });
for (const name of ['log', 'info', 'debug']) console[name] = named(name, (...values) => out(...values));
for (const name of ['warn', 'error']) console[name] = named(name, (...values) => err(...values));
console.group = named('group', (...values) => {
  if (values.length > 0) out(...values);
  indent += '  ';
});
console.groupCollapsed = console.group;
console.groupEnd = named('groupEnd', () => {
  indent = indent.slice(2);
});
for (const name of ['assert', 'count', 'countReset', 'dir', 'dirxml', 'table', 'time', 'timeEnd', 'timeLog', 'trace']) {
  console[name] = named(name, (...values) => require('console_more')[name](...values));
}

module.exports = { console, formatted, print: { out, err } };
