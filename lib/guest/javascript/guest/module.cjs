/** `module`: what makes and finds modules. */
'use strict';
const { builtins, requireFrom, isFile } = require('./boot');
const { fileURLToPath } = require('node:url');
function Module() {
  throw new Error('module.Module is not here: modules are made by require and import');
}
module.exports = Object.assign(Module, {
  builtinModules: builtins.filter((name) => !name.includes('_')),
  createRequire(from) {
    const text = String(from);
    const path = text.startsWith('file:') ? fileURLToPath(text) : text;
    if (!path.startsWith('/'))
      throw require('argument_errors').coded(
        new TypeError(
          `The argument 'filename' must be a file URL object, file URL string, or absolute path string. Received '${text}'`,
        ),
        'ERR_INVALID_ARG_VALUE',
      );
    return requireFrom(path);
  },
  isBuiltin: (specifier) => !isFile(String(specifier)),
});
for (const name of ['register', 'registerHooks', 'syncBuiltinESMExports', 'findSourceMap']) {
  module.exports[name] = () => {
    throw new Error(`module.${name} is not here: nothing hooks into how modules are found`);
  };
}
