/** `stream`: the package that is made of Node's own. */
'use strict';
module.exports = require('readable-stream');
