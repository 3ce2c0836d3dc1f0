'use strict';
/**
 * `node bin/run.cjs FILE [arguments]`, what every npm script calls: runs a file of this repository in this process, or
 * with the pinned Node when this one is too old. Without a pinned Node it ends with one sentence. Asked for help by
 * `--help` or `-h`, it prints the comment at the head of the file and runs nothing; the tools in node_modules have a
 * help of their own.
 */
const fs = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { continueOrHandOver } = require('./supported-node.cjs');

/** What a file says of itself in the comment at its head. */
function helpOf(file) {
  const [, comment = ''] = /^\/\*\*([\s\S]*?)\*\//m.exec(fs.readFileSync(file, 'utf8')) || [];
  return `${comment.replace(/^ *\* ?/gm, '').trim()}\n`;
}

const file = path.resolve(process.argv[2]);
const isTool = file.split(path.sep).includes('node_modules');

if (!isTool && process.argv.slice(3).some((word) => word === '--help' || word === '-h')) {
  process.stdout.write(helpOf(file));
} else if (continueOrHandOver(process.argv.slice(1))) {
  process.argv.splice(1, 2, file);
  void import(pathToFileURL(file).href);
}
