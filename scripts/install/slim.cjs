'use strict';
/**
 * Takes out of node_modules what nothing reads once it is installed: npm runs it after every `npm ci` and `npm
 * install`. Plain JavaScript of an old kind, because npm runs it on whatever Node is there. What it takes is listed
 * below and in docs/decisions/046-what-an-install-brings.md.
 *
 * It never fails an install (what may not be deleted stays), says nothing and follows no link. It takes names away and
 * writes nothing: a file that has another name elsewhere is whole there.
 */
const fs = require('node:fs');
const path = require('node:path');

/** Matches a place in a package, wherever that is installed. */
const within = (pattern) => new RegExp(`(?:^|/node_modules/)${pattern}$`);

/** Source maps: for debuggers of other people's code. */
const MAP = /\.map$/;

/** Other files, and folders with all that is in them. */
const DEAD = [
  // Node's headers, for compiling addons, and its manual page.
  within('node-(?:bin-)?(?:linux|darwin)-[a-z0-9]+/(?:include|share)'),
  // The C that better-sqlite3's binaries were made of.
  within('better-sqlite3/(?:deps|src)'),
  // Next's manual, which it would copy for agents (off: next.config.ts).
  within('next/dist/docs'),
  // sql.js in every other shape than the one that its package names: archives, for debugging, for browsers' workers,
  // without WebAssembly.
  within('sql\\.js/dist/(?:.*\\.zip|.*-debug\\.(?:js|wasm)|worker\\..*|sql-asm.*)'),
  // Packages' own tests, the large ones.
  within('(?:@mixmark-io/domino|bintrees|pino)/test'),
];

/** A binary, or a folder of them, for a system and a processor that its name says. */
const PREBUILT = /\/prebuilds\/(android|darwin|ios|linux|linuxmusl|win32)-([a-z0-9+]+)[^/]*$/;

/** Whether it is for another machine than this one; both C libraries of Linux are this one's. */
function isForeign(below, machine) {
  const [, system, processors] = PREBUILT.exec(below) || [];
  if (system === undefined) return false;
  return system.replace(/musl$/, '') !== machine.platform || !processors.split('+').includes(machine.arch);
}

/** What the call gives; `otherwise` where it cannot be done. */
function attempt(does, otherwise) {
  try {
    return does();
  } catch {
    return otherwise;
  }
}

/**
 * Takes the dead out of a folder; the whole of it when `dead`. `below` is its path in node_modules, with `/` at each
 * step.
 */
function clear(folder, below, dead, machine) {
  for (const entry of attempt(() => fs.readdirSync(folder, { withFileTypes: true }), [])) {
    const at = path.join(folder, entry.name);
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    // What tools keep for themselves was not installed.
    if (name === '.cache') continue;
    const goes = dead || DEAD.some((pattern) => pattern.test(name)) || isForeign(name, machine);
    if (entry.isDirectory()) clear(at, name, goes, machine);
    else if (entry.isFile() && (goes || MAP.test(name))) attempt(() => fs.unlinkSync(at));
  }
  if (dead) attempt(() => fs.rmdirSync(folder));
}

/**
 * Takes what is dead on such a machine out of a node_modules folder. Nothing when the folder is a link, or is not
 * there.
 */
function slim(modules, machine) {
  const stat = attempt(() => fs.lstatSync(modules), null);
  if (stat === null || !stat.isDirectory()) return;
  clear(modules, '', false, machine);
}

if (require.main === module) {
  slim(path.join(__dirname, '..', '..', 'node_modules'), { platform: process.platform, arch: process.arch });
}

module.exports = { slim };
