'use strict';
/**
 * `node bin/run.cjs FILE [arguments]`, which npm's scripts are: runs a file of this repository in this process, as if
 * Node had been given it; on a Node that cannot, with the pinned one; and without one it says so in one sentence.
 */
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { canRun } = require('./needs-node.cjs');

if (canRun(process.argv.slice(1))) {
  const file = path.resolve(process.argv[2]);
  process.argv.splice(1, 2, file);
  void import(pathToFileURL(file).href);
}
