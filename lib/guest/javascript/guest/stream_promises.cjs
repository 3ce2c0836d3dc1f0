/** `stream/promises`. */
'use strict';
module.exports = require('node:stream').promises;
