/** `string_decoder`. */
'use strict';
module.exports = require('string_decoder-package');
