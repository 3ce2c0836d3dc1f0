/** Showing values as Node's console does: a package made of Node's own source, and what it cannot know of QuickJS. */
'use strict';
// The package copies this name of the global object, and uses nothing of it.
globalThis.Atomics = {};
const inspecting = require('node-inspect-extracted');
delete globalThis.Atomics;
const { inspect } = inspecting;
/** It sees no state of a promise by itself. */
Object.defineProperty(Promise.prototype, inspect.custom, {
  configurable: true,
  writable: true,
  value(depth, options) {
    const [state, value] = host.promiseState(this);
    const name = this.constructor?.name ?? 'Promise';
    if (state === 'pending') return `${name} { ${options.stylize('<pending>', 'special')} }`;
    const shown = inspect(value, { ...options, depth: depth === null || depth === undefined ? depth : depth - 1 });
    const text = state === 'rejected' ? `${options.stylize('<rejected>', 'special')} ${shown}` : shown;
    return text.includes('\n') || text.length > 64
      ? `${name} {\n  ${text.replaceAll('\n', '\n  ')}\n}`
      : `${name} { ${text} }`;
  },
});
module.exports = inspecting;
