// biome-ignore-all lint/suspicious/noShadowRestrictedNames: the functions have the names of those that they replace.
/** What depends on a language: QuickJS knows none, so that the server's ICU answers. */
'use strict';
const { stringify } = JSON;
const hidden = (target, name, value) =>
  Object.defineProperty(target, name, { value, writable: true, configurable: true });
const ask = (kind, locales, options, method, values) =>
  JSON.parse(host.intl(stringify([kind, locales, zoned(kind, options), method, values])));
/** Dates are shown in the zone of TZ where no other one is asked for. */
const zoned = (kind, options) =>
  exports.zone === null || !['Date', 'DateTimeFormat'].includes(kind) || options?.timeZone !== undefined
    ? options
    : { ...options, timeZone: exports.zone };
exports.zone = null;
/** In these, the order of units is the order of every language with Latin letters. */
const PLAIN = /^[a-z0-9]*$/;
const compare = String.prototype.localeCompare;
hidden(String.prototype, 'localeCompare', function localeCompare(other, locales, options) {
  const [left, right] = [String(this), String(other)];
  if (locales === undefined && options === undefined && PLAIN.test(left) && PLAIN.test(right))
    return left < right ? -1 : left > right ? 1 : 0;
  return ask('Collator', locales, options, 'compare', [left, right]);
});
Object.defineProperty(String.prototype.localeCompare, 'length', { value: compare.length });
hidden(Number.prototype, 'toLocaleString', function toLocaleString(locales, options) {
  return ask('NumberFormat', locales, options, 'format', [special(Number(this))]);
});
hidden(BigInt.prototype, 'toLocaleString', function toLocaleString(locales, options) {
  return ask('NumberFormat', locales, options, 'format', [{ bigint: String(this) }]);
});
const special = (number) =>
  Number.isFinite(number) && !Object.is(number, -0)
    ? number
    : { number: Object.is(number, -0) ? '-0' : String(number) };
const PARTS = {
  toLocaleString: { date: 'numeric', time: 'numeric' },
  toLocaleDateString: { date: 'numeric' },
  toLocaleTimeString: { time: 'numeric' },
};
for (const name of Object.keys(PARTS)) {
  hidden(
    Date.prototype,
    name,
    {
      [name](locales, options) {
        return Number.isNaN(this.getTime()) ? 'Invalid Date' : ask('Date', locales, options, name, [this.getTime()]);
      },
    }[name],
  );
}
for (const name of ['toLocaleUpperCase', 'toLocaleLowerCase']) {
  const plain = String.prototype[name === 'toLocaleUpperCase' ? 'toUpperCase' : 'toLowerCase'];
  hidden(
    String.prototype,
    name,
    {
      [name](locales) {
        return locales === undefined ? plain.call(this) : ask('String', locales, undefined, name, [String(this)]);
      },
    }[name],
  );
}
const list = Array.prototype.toLocaleString;
hidden(Array.prototype, 'toLocaleString', function toLocaleString(...args) {
  return args.length === 0
    ? list.call(this)
    : this.map((one) => (one === null || one === undefined ? '' : one.toLocaleString(...args))).join(',');
});
exports.ask = ask;
exports.special = special;
