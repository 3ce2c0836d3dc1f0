/** The arguments of `find`: its paths, its global options and its expression, as a tree. */

import { type FileStatus, inodeOf } from '../command-files.ts';
import { readDate } from '../date/date-words.ts';
import { kindLetter, OWNER } from '../file-words.ts';
import { globRegex } from '../glob.ts';
import { type CommandCall, marked, reasonOf } from '../own-command.ts';
import { RegexError, type RegexSyntax, translateRegex } from '../posix-regex.ts';
import {
  baseName,
  type FindAction,
  FindError,
  type FindFile,
  type FindNode,
  type FindPlan,
  type FindTest,
} from './find-plan.ts';
import { compareNumbers, FIND_SYNTAXES, permissionTest, sizeTest } from './find-tests.ts';

const ACTS = new Set(['-exec', '-execdir', '-ok', '-okdir', '-print', '-print0', '-printf', '-ls', '-delete']);
const DAY = 86_400;

/** Parses the arguments. Throws a `FindError` with the sentence of GNU. */
export function parseFind(call: CommandCall): FindPlan {
  const args = [...call.args];
  let links: FindPlan['links'] = 'P';
  for (;;) {
    const [first = ''] = args;
    if (first === '-H' || first === '-L' || first === '-P') links = first.slice(1) as FindPlan['links'];
    else if (first === '-D') args.shift();
    else if (!/^-O\d*$/.test(first)) break;
    args.shift();
  }
  if (args[0] === '--') args.shift();
  const begin = args.findIndex((arg) => /^(?:-.|[(),!]$)/.test(arg));
  const paths = begin === -1 ? args : args.slice(0, begin);
  const parser = new Parser(call, begin === -1 ? [] : args.slice(begin), links);
  const node = parser.parse();
  return { ...parser.plan, paths: paths.length > 0 ? paths : ['.'], node };
}

class Parser {
  readonly plan: Omit<FindPlan, 'paths' | 'node'>;
  readonly #call: CommandCall;
  readonly #args: string[];
  readonly #now = Date.now() / 1000;
  #at = 0;
  #acts = false;
  #syntax: RegexSyntax = 'emacs';
  #dayStart: number | null = null;

  constructor(call: CommandCall, args: string[], links: FindPlan['links']) {
    this.#call = call;
    this.#args = args;
    this.plan = { links, maxDepth: Number.POSITIVE_INFINITY, minDepth: 0, depthFirst: false };
  }

  parse(): FindNode {
    const print: FindNode = { kind: 'act', act: { action: 'print' } };
    if (this.#args.length === 0) return print;
    const node = this.#list();
    if (this.#at < this.#args.length) {
      const rest = this.#args[this.#at] ?? '';
      if (rest === ')') throw new FindError("invalid expression; you have too many ')'");
      throw new FindError(this.#misplaced(rest));
    }
    return this.#acts ? node : { kind: 'and', left: node, right: print };
  }

  #misplaced(arg: string): string {
    const before = this.#args.slice(0, this.#at).findLast((one) => one.startsWith('-')) ?? '';
    const pattern = /^-(?:i?name|i?path|i?wholename|i?regex)$/.test(before);
    const hint = pattern ? `\nfind: possible unquoted pattern after predicate \`${before}'?` : '';
    return `paths must precede expression: \`${arg}'${hint}`;
  }

  #list(): FindNode {
    let left = this.#or();
    while (this.#takes(',')) left = { kind: 'list', left, right: this.#or() };
    return left;
  }

  #or(): FindNode {
    let left = this.#and();
    while (this.#takes('-o') || this.#takes('-or')) left = { kind: 'or', left, right: this.#and() };
    return left;
  }

  #and(): FindNode {
    let left = this.#not();
    for (;;) {
      const next = this.#args[this.#at];
      if (this.#takes('-a') || this.#takes('-and')) left = { kind: 'and', left, right: this.#not() };
      else if (next === undefined || /^(?:-o|-or|,|\))$/.test(next) || !/^[-(!]/.test(next)) return left;
      else left = { kind: 'and', left, right: this.#not() };
    }
  }

  #not(): FindNode {
    if (this.#takes('!') || this.#takes('-not')) {
      if (this.#args[this.#at] === undefined) throw new FindError("expected an expression after `!'");
      return { kind: 'not', node: this.#not() };
    }
    if (this.#takes('(')) {
      if (this.#takes(')')) throw new FindError('invalid expression; empty parentheses are not allowed.');
      const node = this.#list();
      if (!this.#takes(')'))
        throw new FindError("invalid expression; I was expecting to find a ')' somewhere but did not see one.");
      return node;
    }
    return this.#primary();
  }

  #primary(): FindNode {
    const name = this.#args[this.#at];
    if (name === undefined) {
      const before = this.#args[this.#at - 1] ?? '';
      throw new FindError(`invalid expression; expected to find an expression after \`${before}'`.replace(/^/, ''));
    }
    if (/^(?:-o|-or|-a|-and|,)$/.test(name))
      throw new FindError(`invalid expression; you have used a binary operator '${name}' with nothing before it.`);
    if (!name.startsWith('-')) throw new FindError(this.#misplaced(name));
    this.#at += 1;
    if (ACTS.has(name) || name.startsWith('-fprint') || name === '-fls') this.#acts = true;
    const action = this.#action(name);
    if (action !== null) return { kind: 'act', act: action };
    const test = this.#option(name) ?? this.#test(name);
    if (test === null) throw new FindError(`unknown predicate \`${name}'`);
    return { kind: 'test', test };
  }

  #action(name: string): FindAction | null {
    switch (name) {
      case '-print':
      case '-print0':
      case '-prune':
      case '-quit':
      case '-ls':
        if (name === '-quit') this.#acts ||= false;
        return { action: name.slice(1) as 'print' };
      case '-delete':
        this.plan.depthFirst = true;
        return { action: 'delete' };
      case '-printf':
        return { action: 'printf', format: this.#value(name) };
      case '-fprint':
        return { action: 'write', format: null, end: '\n', file: this.#value(name) };
      case '-fprint0':
        return { action: 'write', format: null, end: '\0', file: this.#value(name) };
      case '-fprintf': {
        const file = this.#value(name);
        return { action: 'write', format: this.#value(name), end: '', file };
      }
      case '-exec':
      case '-execdir':
      case '-ok':
      case '-okdir':
        return this.#exec(name);
      default:
        return null;
    }
  }

  #exec(name: string): FindAction {
    const from = this.#at;
    for (let at = from; at < this.#args.length; at += 1) {
      const many = this.#args[at] === '+' && this.#args[at - 1] === '{}' && at > from + 1;
      if (this.#args[at] !== ';' && !many) continue;
      if (at === from) break;
      this.#at = at + 1;
      const command = this.#args.slice(from, many ? at - 1 : at);
      if (many && command.some((word) => word.includes('{}')))
        throw new FindError(`Only one instance of {} is supported with ${name} ... +`);
      return { action: 'exec', command, many, inDirectory: name.endsWith('dir'), asks: name.startsWith('-ok') };
    }
    throw new FindError(`missing argument to \`${name}'`);
  }

  /** Options that always hold. */
  #option(name: string): FindTest | null {
    switch (name) {
      case '-maxdepth':
      case '-mindepth': {
        const value = this.#value(name);
        if (!/^\d+$/.test(value))
          throw new FindError(`Expected a positive decimal integer argument to ${name}, but got ${marked(value)}`);
        this.plan[name === '-maxdepth' ? 'maxDepth' : 'minDepth'] = Number(value);
        break;
      }
      case '-depth':
      case '-d':
        this.plan.depthFirst = true;
        break;
      case '-follow':
        this.plan.links = 'L';
        break;
      case '-daystart':
        this.#dayStart = (Math.floor(this.#now / DAY) + 1) * DAY;
        break;
      case '-regextype': {
        const value = this.#value(name);
        const syntax = FIND_SYNTAXES[value];
        if (syntax === undefined) {
          const names = Object.keys(FIND_SYNTAXES).map(marked).join(', ');
          throw new FindError(`Unknown regular expression type ${marked(value)}; valid types are ${names}.`);
        }
        this.#syntax = syntax;
        break;
      }
      case '-xdev':
      case '-mount':
      case '-noleaf':
      case '-warn':
      case '-nowarn':
      case '-ignore_readdir_race':
      case '-noignore_readdir_race':
      case '-true':
      case '-readable':
      case '-writable':
        break;
      default:
        return null;
    }
    return () => true;
  }

  #test(name: string): FindTest | null {
    switch (name) {
      case '-false':
      case '-nouser':
      case '-nogroup':
        return () => false;
      case '-name':
      case '-iname': {
        const glob = globRegex(this.#value(name), name === '-iname');
        return (file) => glob.test(baseName(file.path));
      }
      case '-path':
      case '-ipath':
      case '-wholename':
      case '-iwholename': {
        const glob = globRegex(this.#value(name), name.startsWith('-i'));
        return (file) => glob.test(file.path);
      }
      case '-lname':
      case '-ilname': {
        const glob = globRegex(this.#value(name), name === '-ilname');
        return ({ info }) => info.kind === 'link' && glob.test(info.target ?? '');
      }
      case '-regex':
      case '-iregex': {
        const expression = this.#regex(this.#value(name), name === '-iregex');
        return (file) => expression.test(file.path);
      }
      case '-type':
      case '-xtype':
        return this.#type(name);
      case '-empty':
        return ({ info }) =>
          info.kind === 'file'
            ? info.size === 0
            : info.kind === 'dir' && this.#call.files.children(info.path).length === 0;
      case '-size':
        return sizeTest(this.#value(name));
      case '-perm':
        return permissionTest(this.#value(name));
      case '-executable':
        return ({ info }) => info.kind === 'link' || (info.mode & 0o111) !== 0;
      case '-user':
      case '-group':
      case '-uid':
      case '-gid':
        return this.#owner(name);
      case '-links':
        return this.#number(name, ({ info }) => this.#call.files.links(info));
      case '-inum':
        return this.#number(name, ({ info }) => inodeOf(info));
      case '-samefile': {
        const { path } = this.#reference(name);
        return ({ info }) => info.path === path;
      }
      default:
        return this.#time(name);
    }
  }

  #time(name: string): FindTest | null {
    const window = /^-[amc](time|min)$/.exec(name);
    if (window) {
      const value = this.#value(name);
      const found = /^([+-]?)(\d+(?:\.\d+)?)$/.exec(value);
      if (found === null) throw new FindError(`invalid argument \`${value}' to \`${name}'`);
      const unit = window[1] === 'time' ? DAY : 60;
      const origin = this.#dayStart ?? this.#now;
      const number = Number(found[2]);
      return ({ info }) => {
        const age = (origin - info.mtime) / unit;
        const whole = unit === DAY ? Math.floor(age) : Math.ceil(age);
        if (found[1] === '+') return unit === DAY ? whole > number : age > number;
        return found[1] === '-' ? age < number : whole === number;
      };
    }
    if (name === '-newer' || name === '-anewer' || name === '-cnewer' || /^-newer[aBcm][aBcm]$/.test(name)) {
      const { mtime } = this.#reference(name);
      return ({ info }) => info.mtime > mtime;
    }
    if (/^-newer[aBcm]t$/.test(name)) {
      const value = this.#value(name);
      const time = readDate(value, this.#now * 1000);
      if (time === null) throw new FindError(`I cannot figure out how to interpret ${marked(value)} as a date or time`);
      return ({ info }) => info.mtime * 1000 > time;
    }
    return null;
  }

  #type(name: string): FindTest {
    const value = this.#value(name);
    const letters = value.split(',');
    for (const letter of letters) {
      if (!/^[bcdpflsD]$/.test(letter))
        throw new FindError(
          letter.length > 1
            ? `Must separate multiple arguments to ${name} using: ','`
            : `Unknown argument to ${name}: ${letter}`,
        );
    }
    return (file) => letters.includes(kindLetter(name === '-type' ? file.info : this.#otherSide(file)));
  }

  /** What -xtype looks at: the target of a link, or with -L the link. */
  #otherSide(file: FindFile): FileStatus {
    try {
      return this.#call.files.look(file.absolute, this.plan.links !== 'L') ?? file.info;
    } catch {
      // A loop of links is a link.
      return file.info;
    }
  }

  #owner(name: string): FindTest {
    const value = this.#value(name);
    if (value === OWNER.name) return () => true;
    if (value === 'root') return () => false;
    const found = /^([+-]?)(\d+)$/.exec(value);
    if (found === null) {
      const what = name === '-user' ? 'is not the name of a known user' : 'is not the name of an existing group';
      throw new FindError(`${marked(value)} ${what}`);
    }
    return () => compareNumbers(OWNER.id, found[1] ?? '', Number(found[2]));
  }

  #number(name: string, of: (file: FindFile) => number): FindTest {
    const value = this.#value(name);
    const found = /^([+-]?)(\d+)$/.exec(value);
    if (found === null) throw new FindError(`invalid argument \`${value}' to \`${name}'`);
    return (file) => compareNumbers(of(file), found[1] ?? '', Number(found[2]));
  }

  #regex(pattern: string, ignoreCase: boolean): RegExp {
    try {
      const { source } = translateRegex(pattern, { syntax: this.#syntax, unicode: true, lineEnd: '' });
      return new RegExp(`^(?:${source})$`, ignoreCase ? 'iu' : 'u');
    } catch (error) {
      if (!(error instanceof RegexError)) throw error;
      throw new FindError(`failed to compile regular expression '${pattern}': ${error.message}`);
    }
  }

  #reference(name: string): FileStatus {
    const value = this.#value(name);
    try {
      return this.#call.files.info(this.#call.path(value), this.plan.links !== 'P');
    } catch (error) {
      throw new FindError(`${marked(value)}: ${reasonOf(error)}`);
    }
  }

  #value(name: string): string {
    const value = this.#args[this.#at];
    if (value === undefined) throw new FindError(`missing argument to \`${name}'`);
    this.#at += 1;
    return value;
  }

  #takes(word: string): boolean {
    if (this.#args[this.#at] !== word) return false;
    this.#at += 1;
    return true;
  }
}
