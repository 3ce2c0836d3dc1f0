/** `timers`. */
'use strict';
const { globals } = require('./boot');
const { queueMicrotask: _, ...timers } = globals;
module.exports = {
  ...timers,
  get promises() {
    return require('node:timers/promises');
  },
};
