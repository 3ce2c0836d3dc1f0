'use strict';
/**
 * `node bin/run.cjs FILE [arguments]`, which npm's scripts are: runs a TypeScript file of this repository in this process, or says in one
 * sentence why this Node cannot. The file finds its arguments as if Node had been given it.
 */
const path = require('node:path');
const { pathToFileURL } = require('node:url');

require('./needs-node.cjs').orEnd();
const file = path.resolve(process.argv[2]);
process.argv.splice(1, 2, file);
import(pathToFileURL(file).href);
