/**
 * What bash says of an arithmetic expression that is none. Reads the words of an expression and their order as bash's
 * own evaluator does, and computes nothing. Called by just-bash's parser as it is patched (bash-arithmetic-patches.ts):
 * that one takes some of what bash refuses, and has other words for the rest.
 */

interface Problem {
  /** What bash stopped at, to the end of the expression. */
  token: string;
  /** `1+: syntax error: operand expected (error token is "+")`. */
  message: string;
}

/** Names, numbers, operators of several characters; `i` and `d` are `++` and `--` in front of and behind a name. */
type Token = 'end' | 'name' | 'number' | 'before' | 'behind' | 'assign' | string;

const OPERATORS = ['<<=', '>>=', '==', '!=', '<=', '>=', '<<', '>>', '&&', '||', '**'];
/** From what binds least to what binds most. */
const LEVELS: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['|'],
  ['^'],
  ['&'],
  ['==', '!='],
  ['<=', '>=', '<', '>'],
  ['<<', '>>'],
  ['+', '-'],
  ['*', '/', '%'],
];
const OPERAND_EXPECTED = 'syntax error: operand expected';

/** Null for an expression that bash takes, and for one that can be read only when its script runs. */
export function arithmeticProblem(source: string): Problem | null {
  const text = source.replaceAll('\\\n', '');
  if (/["'`\\]|\$[\w{(@*#?!$"'-]/.test(text)) return null;
  try {
    new Reader(text).read();
    return null;
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    const token = text.slice(error.at, error.end);
    return { token, message: `${text.slice(0, error.end).trimStart()}: ${error.message} (error token is "${token}")` };
  }
}

/** What an error of an evaluation says with its expression; the divisor is known where there is one operator for it. */
export function withSource(error: unknown, source: string | undefined): unknown {
  if (!(error instanceof Error) || !('stderr' in error) || source === undefined) return error;
  const sign = { 'division by 0': /[/%]/, 'exponent less than 0': /\*\*/ }[error.message];
  const [, rest, ...more] = sign === undefined ? [] : source.split(sign);
  if (rest === undefined || more.length > 0 || source.includes('$')) return error;
  const token = rest.trimStart().replace(/^-(?=.*$)/, error.message.startsWith('exponent') ? '' : '-');
  const message = `${source.trimStart()}: ${error.message} (error token is "${token}")`;
  return Object.assign(error, { message, stderr: `bash: ${message}\n` });
}

class Stop extends Error {
  readonly at: number;
  /** Of what bash has read: it ends a number while it looks at it. */
  readonly end: number | undefined;

  constructor(message: string, at: number, end?: number) {
    super(message);
    this.at = at;
    this.end = end;
  }
}

class Reader {
  readonly #text: string;
  #next = 0;
  /** Where the last token begins; the end of the text is none. */
  #at = 0;
  #token: Token = '';
  #before: Token = '';

  constructor(text: string) {
    this.#text = text;
  }

  read(): void {
    this.#step();
    if (this.#token === 'end') return;
    this.#list();
    if (this.#token !== 'end') this.#stop('syntax error in expression');
  }

  #stop(message: string): never {
    throw new Stop(message, this.#at);
  }

  #list(): void {
    this.#assignment();
    while (this.#token === ',') {
      this.#step();
      this.#assignment();
    }
  }

  #assignment(): void {
    this.#condition();
    if (this.#token !== 'assign') return;
    if (this.#before !== 'name') this.#stop('attempted assignment to non-variable');
    this.#step();
    this.#assignment();
  }

  #condition(): void {
    this.#level(0);
    if (!this.#is('?')) return;
    this.#step();
    if (this.#is('end', ':')) this.#stop('expression expected');
    this.#list();
    if (!this.#is(':')) this.#stop("`:' expected for conditional expression");
    this.#step();
    if (this.#is('end')) this.#stop('expression expected');
    this.#condition();
  }

  #is(...tokens: readonly Token[]): boolean {
    return tokens.includes(this.#token);
  }

  #level(level: number): void {
    const operators = LEVELS[level];
    if (operators === undefined) {
      this.#power();
      return;
    }
    this.#level(level + 1);
    while (operators.includes(this.#token)) {
      this.#step();
      this.#level(level + 1);
    }
  }

  #power(): void {
    this.#signed();
    while (this.#token === '**') {
      this.#step();
      this.#power();
    }
  }

  #signed(): void {
    if (!this.#is('!', '~', '-', '+')) {
      this.#operand();
      return;
    }
    this.#step();
    this.#signed();
    this.#before = 'number';
  }

  #operand(): void {
    const token = this.#token;
    if (token === 'before') {
      this.#step();
      if (this.#token !== 'name') this.#stop('identifier expected after pre-increment or pre-decrement');
      this.#token = 'number';
      this.#step();
    } else if (token === '(') {
      this.#step();
      this.#list();
      if (this.#token !== ')') this.#stop("missing `)'");
      this.#step();
    } else if (token === 'name' || token === 'number') {
      this.#step();
      if (this.#token !== 'behind') return;
      this.#token = 'number';
      this.#step();
    } else this.#stop(OPERAND_EXPECTED);
  }

  #step(): void {
    const text = this.#text;
    while (/\s/.test(text[this.#next] ?? '')) this.#next += 1;
    this.#before = this.#token;
    if (this.#next >= text.length) {
      this.#token = 'end';
      return;
    }
    this.#at = this.#next;
    const rest = text.slice(this.#at);
    const [word = ''] = /^[A-Za-z_]\w*/.exec(rest) ?? /^\d[\w#@]*/.exec(rest) ?? [];
    if (/^\d/.test(word)) {
      const reason = numberProblem(word);
      if (reason !== null) throw new Stop(reason, this.#at, this.#at + word.length);
      this.#take('number', word.length);
    } else if (word !== '') this.#name(word.length + subscriptLength(rest.slice(word.length)));
    else this.#operator(rest);
  }

  /** What follows a name is looked at before the name is: what is no word at all is found there. */
  #name(length: number): void {
    this.#take('name', length);
    const [next, at, before] = [this.#next, this.#at, this.#before];
    this.#step();
    [this.#next, this.#at, this.#before, this.#token] = [next, at, before, 'name'];
  }

  #operator(rest: string): void {
    const operator = OPERATORS.find((one) => rest.startsWith(one));
    const [first = ''] = rest;
    if (operator !== undefined) this.#take(operator.length === 3 ? 'assign' : operator, operator.length);
    else if (/^(?:\+\+|--)/.test(rest) && this.#token === 'name') this.#take('behind', 2);
    else if (/^(?:\+\+|--)\s*[A-Za-z_]/.test(rest)) this.#take('before', 2);
    else if (/^[-+*/%&^|]=/.test(rest)) this.#take('assign', 2);
    else if (first === '=') this.#take('assign', 1);
    else if ('<>+-*/%!()&|^~?:,'.includes(first)) this.#take(first, 1);
    else this.#stop(this.#isOperand() ? 'syntax error: invalid arithmetic operator' : OPERAND_EXPECTED);
  }

  /** Whether the last token ended an operand, or a group. */
  #isOperand(): boolean {
    return ['name', 'number', 'behind'].includes(this.#token);
  }

  #take(token: Token, length: number): void {
    this.#token = token;
    this.#next = this.#at + length;
  }
}

function subscriptLength(rest: string): number {
  if (rest[0] !== '[') return 0;
  let depth = 0;
  for (let at = 0; at < rest.length; at += 1) {
    if (rest[at] === '[') depth += 1;
    else if (rest[at] === ']') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return 0;
}

function numberProblem(word: string): string | null {
  const [first = '', ...others] = word.split('#');
  const [digits] = others;
  if (digits !== undefined && /^0(?:[0-7]+|[xX][0-9a-fA-F]*)?$/.test(first)) return 'invalid number';
  if (digits === undefined) {
    if (/^0[xX][0-9a-fA-F]*$/.test(word)) return null;
    return /^(?:0[0-7]*|[1-9]\d*)$/.test(word) ? null : 'value too great for base';
  }
  const base = Number(first);
  if (!/^[1-9]\d*$/.test(first)) return 'value too great for base';
  if (base < 2 || base > 64) return 'invalid arithmetic base';
  if (digits === '') return 'invalid integer constant';
  if ([...digits].some((digit) => digit !== '#' && digitValue(digit, base) >= base)) return 'value too great for base';
  return others.length > 1 ? 'invalid number' : null;
}

/** Of a digit: 0–9, a–z, A–Z, @, _; letters of both cases are the same up to base 36. */
function digitValue(digit: string, base: number): number {
  if (/\d/.test(digit)) return Number(digit);
  if (/[a-z]/.test(digit)) return digit.charCodeAt(0) - 87;
  if (/[A-Z]/.test(digit)) return digit.charCodeAt(0) - (base <= 36 ? 55 : 29);
  return digit === '@' ? 62 : 63;
}
