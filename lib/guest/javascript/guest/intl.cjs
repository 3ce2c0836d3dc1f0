/** `Intl`: the server's ICU answers. */
'use strict';
const { ask, special } = require('locale');
const dateOf = (value) => (value === undefined ? Date.now() : value instanceof Date ? value.getTime() : Number(value));
const number = (value) => (typeof value === 'bigint' ? { bigint: String(value) } : special(Number(value)));
const KINDS = {
  Collator: { compare: (a, b) => [String(a), String(b)] },
  NumberFormat: { format: (value) => [number(value)], formatToParts: (value) => [number(value)] },
  DateTimeFormat: {
    format: (date) => [dateOf(date)],
    formatToParts: (date) => [dateOf(date)],
    formatRange: (a, b) => [dateOf(a), dateOf(b)],
  },
  PluralRules: { select: (value) => [number(value)] },
  ListFormat: { format: (list) => [[...list].map(String)] },
  RelativeTimeFormat: { format: (value, unit) => [number(value), String(unit)] },
  DisplayNames: { of: (code) => [String(code)] },
};
exports.Intl = {
  getCanonicalLocales: (locales) => ask('Intl', undefined, undefined, 'getCanonicalLocales', [locales]),
};
for (const [kind, methods] of Object.entries(KINDS)) {
  const made = {
    [kind]: class {
      constructor(locales, options) {
        const asked = options === undefined ? undefined : { ...options };
        Object.defineProperty(this, 'question', { value: { locales, options: asked } });
        ask(kind, locales, asked, 'resolvedOptions', []);
        for (const name of ['compare', 'format'])
          if (name in methods) Object.defineProperty(this, name, { value: this[name].bind(this), configurable: true });
      }
      resolvedOptions() {
        return ask(kind, this.question.locales, this.question.options, 'resolvedOptions', []);
      }
      static supportedLocalesOf(locales) {
        return ask(kind, locales, undefined, 'supportedLocalesOf', []);
      }
    },
  }[kind];
  for (const [name, argumentsOf] of Object.entries(methods)) {
    Object.defineProperty(made.prototype, name, {
      configurable: true,
      writable: true,
      value(...args) {
        return ask(kind, this.question.locales, this.question.options, name, argumentsOf(...args));
      },
    });
  }
  Object.defineProperty(exports.Intl, kind, {
    value: new Proxy(made, { apply: (target, _self, args) => new target(...args) }),
    writable: true,
    configurable: true,
  });
}
exports.Intl.Segmenter = class Segmenter {
  constructor(locales, options) {
    Object.defineProperty(this, 'question', { value: { locales, options: { ...options } } });
  }
  segment(text) {
    return ask('Segmenter', this.question.locales, this.question.options, 'segment', [String(text)]);
  }
};
