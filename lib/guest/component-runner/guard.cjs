/** Refuses what a component did not declare: see javascript-guard.ts. */
(refuse, undeclared) => {
  'use strict';
  const lacks = (name) => undeclared.split(' ').includes(name);
  const { construct, defineProperty } = Reflect;
  const set = (owner, name, value) => {
    if (owner !== undefined)
      defineProperty(owner, name, { value, writable: true, configurable: true, enumerable: false });
  };
  if (lacks('random')) {
    const random = () => refuse('random');
    set(Math, 'random', random);
    set(globalThis.crypto, 'getRandomValues', random);
    set(globalThis.crypto, 'randomUUID', random);
  }
  if (lacks('clock')) {
    const Real = Date;
    const now = () => refuse('clock');
    const Guarded = function (...given) {
      return new.target === undefined || given.length === 0 ? now() : construct(Real, given, new.target);
    };
    set(Guarded, 'name', 'Date');
    set(Guarded, 'length', Real.length);
    for (const name of ['parse', 'UTC']) set(Guarded, name, Real[name]);
    set(Guarded, 'now', now);
    defineProperty(Guarded, 'prototype', { value: Real.prototype, writable: false });
    set(Real.prototype, 'constructor', Guarded);
    set(globalThis, 'Date', Guarded);
    set(globalThis.performance, 'now', now);
  }
  if (lacks('fetch')) set(globalThis, 'fetch', () => refuse('fetch'));
};
