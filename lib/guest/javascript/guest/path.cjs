/** `path`: the package has what Linux has; paths of Windows are not here. */
'use strict';
const path = require('path-browserify');
const rule = (text) =>
  new RegExp(
    `^${text
      .replace(/[.+^${}()|\\]/g, '\\$&')
      .replaceAll('**/', '(?:.*/)?')
      .replaceAll('**', '.*')
      .replace(/(?<![.)])\*/g, '[^/]*')
      .replaceAll('?', '[^/]')}$`,
  );
const matchesGlob = (name, pattern) => rule(pattern).test(name);
module.exports = { ...path, matchesGlob, toNamespacedPath: (name) => name };
module.exports.posix = module.exports;
Object.defineProperty(module.exports, 'win32', {
  configurable: true,
  enumerable: false,
  get() {
    throw new Error('path.win32 is not here: the sandbox has paths of Linux alone');
  },
});
