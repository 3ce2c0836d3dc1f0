/** `path/posix`. */
'use strict';
module.exports = require('node:path');
