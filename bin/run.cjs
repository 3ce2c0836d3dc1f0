'use strict';
/**
 * `node bin/run.cjs FILE [arguments]`, what every npm script calls: runs a file of this repository in this process, or
 * with the pinned Node when this one is too old. Without a pinned Node it ends with one sentence.
 */
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { continueOrHandOver } = require('./supported-node.cjs');

if (continueOrHandOver(process.argv.slice(1))) {
  const file = path.resolve(process.argv[2]);
  process.argv.splice(1, 2, file);
  void import(pathToFileURL(file).href);
}
