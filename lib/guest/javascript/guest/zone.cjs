/**
 * `Date` in the zone of TZ. QuickJS knows UTC alone: what is said of local time is asked of the server's zone data.
 * Only loaded where TZ names another zone. `host.zone` answers with its offset in milliseconds, and its name.
 */
'use strict';
const locale = require('locale');
const Native = Date;
const { prototype } = Native;
const DAY_MS = 86_400_000;
/** Offsets change at quarters of an hour. */
const STEP_MS = 900_000;
const hidden = (target, name, value) =>
  Object.defineProperty(target, name, { value, writable: true, configurable: true });
const two = (number) => String(number).padStart(2, '0');
const getTime = prototype.getTime;

/** @param {string} zone Its name in the tz database. */
exports.use = (zone) => {
  let known = { step: Number.NaN, offset: 0, name: '' };
  const at = (ms) => {
    const step = Math.floor(ms / STEP_MS);
    if (step !== known.step) {
      const [offset, name] = JSON.parse(host.zone(zone, String(ms)));
      known = { step, offset, name };
    }
    return known;
  };
  /** The moment at which its clocks show this; the first of two, and as before a jump for one that they pass over. */
  const momentOf = (shown) => {
    if (Number.isNaN(shown)) return shown;
    const before = at(shown - DAY_MS).offset;
    if (at(shown - before).offset === before) return shown - before;
    const after = at(shown + DAY_MS).offset;
    return at(shown - after).offset === after ? shown - after : shown - before;
  };
  const shownAt = (date) => {
    const ms = getTime.call(date);
    return new Native(Number.isNaN(ms) ? ms : ms + at(ms).offset);
  };

  for (const field of ['FullYear', 'Month', 'Date', 'Day', 'Hours', 'Minutes', 'Seconds', 'Milliseconds']) {
    const get = prototype[`getUTC${field}`];
    hidden(
      prototype,
      `get${field}`,
      {
        [`get${field}`]() {
          return get.call(shownAt(this));
        },
      }[`get${field}`],
    );
    const set = prototype[`setUTC${field}`];
    if (set === undefined) continue;
    const { length } = set;
    const own = {
      [`set${field}`](...values) {
        const shown = field === 'FullYear' && Number.isNaN(getTime.call(this)) ? new Native(0) : shownAt(this);
        return this.setTime(momentOf(set.apply(shown, values)));
      },
    }[`set${field}`];
    hidden(prototype, `set${field}`, Object.defineProperty(own, 'length', { value: length }));
  }
  hidden(prototype, 'getYear', function getYear() {
    return this.getFullYear() - 1900;
  });
  hidden(prototype, 'getTimezoneOffset', function getTimezoneOffset() {
    const ms = getTime.call(this);
    return Number.isNaN(ms) ? ms : -at(ms).offset / 60_000;
  });
  const day = (date) =>
    shownAt(date)
      .toUTCString()
      .replace(/^(\w+), (\d+) (\w+) (-?\d+) .*$/, '$1 $3 $2 $4');
  const time = (date) => {
    const { offset, name } = at(getTime.call(date));
    const minutes = Math.floor(Math.abs(offset) / 60_000);
    const clock = shownAt(date)
      .toISOString()
      .replace(/^.*T([\d:]{8}).*$/, '$1');
    return `${clock} GMT${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${two(minutes % 60)} (${name})`;
  };
  const texts = { toString: (date) => `${day(date)} ${time(date)}`, toDateString: day, toTimeString: time };
  for (const [name, text] of Object.entries(texts)) {
    const own = {
      [name]() {
        return Number.isNaN(getTime.call(this)) ? 'Invalid Date' : text(this);
      },
    };
    hidden(prototype, name, own[name]);
  }

  /** A text without a zone is of local time, but for a day alone as ISO 8601 has it. */
  const ZONED =
    /(?:\d\s*Z|\b(?:GMT|UTC?|[ECMP][SD]T)|\d:\d\d\S*\s*(?:GMT|UTC)?[-+]\d{1,2}(?::?\d{2})?)\s*(?:\([^)]*\)\s*)?$/i;
  const DAY_ALONE = /^\s*(?:[-+]\d{6}|\d{4})(?:-\d{2}(?:-\d{2})?)?\s*$/;
  const parse = (text) => {
    const ms = Native.parse(text);
    return ZONED.test(text) || DAY_ALONE.test(text) ? ms : momentOf(ms);
  };
  const givenBy = (args) => {
    if (args.length === 0) return [];
    if (args.length > 1) return [momentOf(Native.UTC(...args))];
    const [one] = args;
    if (one instanceof Native) return [getTime.call(one)];
    const plain =
      typeof one === 'object' && one !== null ? (one[Symbol.toPrimitive]?.('default') ?? one.valueOf()) : one;
    return [typeof plain === 'string' ? parse(plain) : plain];
  };
  function Zoned(...args) {
    return new.target === undefined ? new Native().toString() : Reflect.construct(Native, givenBy(args), new.target);
  }
  Object.defineProperty(Zoned, 'name', { value: 'Date', configurable: true });
  Object.defineProperty(Zoned, 'length', { value: 7, configurable: true });
  Object.defineProperty(Zoned, 'prototype', { value: prototype, writable: false });
  for (const name of ['UTC', 'now']) hidden(Zoned, name, Native[name]);
  hidden(Zoned, 'parse', (text) => parse(String(text)));
  hidden(prototype, 'constructor', Zoned);
  hidden(globalThis, 'Date', Zoned);
  locale.zone = zone;
};
