/**
 * `bc` for expressions: decimals of any length, `scale`, `ibase` and `obase` to 16, variables, comparisons. No loops
 * and no functions of its own.
 */
import {
  type Decimal,
  decimalText,
  digitsOf,
  divided,
  multiplied,
  numberOf,
  powered,
  rootOf,
  scaled,
  shared,
} from './decimals.ts';
import { type CommandCall, type OwnCommand, reasonOf } from './own-command.ts';

const LINE = 69;
const LIBRARY_SCALE = 20;
/** Bases whose digits are 0 to 9 and A to F. */
const HIGHEST_BASE = 16;
const TOKEN =
  /\s+|\/\*.*?\*\/|#[^\n]*|"([^"]*)"|([\dA-F]+\.?[\dA-F]*|\.[\dA-F]+)|([a-z]\w*)|(<=|>=|==|!=|\+\+|--|&&|\|\||[-+*/%^]=|[-+*/%^()<>=!;{}\n,])/gsy;

interface Token {
  kind: 'number' | 'name' | 'mark' | 'text';
  text: string;
}

export const bc: OwnCommand = {
  async main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: 'hilqsw',
      long: { interactive: 'i', mathlib: 'l', quiet: 'q', standard: 's', warn: 'w' },
    });
    const calculator = new Calculator(call);
    if (options.some(({ key }) => key === 'l')) calculator.scale = LIBRARY_SCALE;
    for (const name of [...operands, '-']) {
      try {
        if (!calculator.run((await call.input(name)).toString())) break;
      } catch (error) {
        call.end(`File ${name} is unavailable: ${reasonOf(error)}`);
      }
    }
    return calculator.lacked ? 1 : 0;
  },
};

class SyntaxTrouble extends Error {
  readonly lacks: boolean = false;
}

/** What `bc` has and this one has not. Other errors leave the exit code at 0, as in `bc`. */
class Lacking extends SyntaxTrouble {
  override readonly lacks = true;
}

class Calculator {
  scale = 0;
  /** Something was asked for that is not supported. */
  lacked = false;
  #inputBase = 10;
  #outputBase = 10;
  readonly #call: CommandCall;
  readonly #variables = new Map<string, Decimal>();
  #tokens: Token[] = [];
  #at = 0;

  constructor(call: CommandCall) {
    this.#call = call;
  }

  /** Runs a program, line by line; false once it quits. */
  run(text: string): boolean {
    for (const [at, line] of text.replaceAll('\\\n', '').split('\n').entries()) {
      this.#call.requireTime();
      try {
        if (!this.#line(line)) return false;
      } catch (error) {
        if (!(error instanceof SyntaxTrouble) && !(error instanceof RangeError)) throw error;
        this.lacked ||= error instanceof SyntaxTrouble && error.lacks;
        const message =
          error instanceof SyntaxTrouble
            ? `(standard_in) ${at + 1}: ${error.message}`
            : `Runtime error (func=(main), adr=3): ${error.message}`;
        this.#call.warn(`${message}\n`);
      }
    }
    return true;
  }

  #line(line: string): boolean {
    this.#tokens = tokensOf(line);
    this.#at = 0;
    while (this.#at < this.#tokens.length) {
      if (this.#takes(';')) continue;
      if (this.#takes('quit') || this.#takes('halt')) return false;
      this.#statement();
      if (this.#at < this.#tokens.length && this.#tokens[this.#at]?.text !== ';')
        throw new SyntaxTrouble('syntax error');
    }
    return true;
  }

  #statement(): void {
    const token = this.#tokens[this.#at];
    if (token?.kind === 'text') {
      this.#at += 1;
      this.#call.print(token.text);
      return;
    }
    if (this.#takes('print')) {
      do {
        const next = this.#tokens[this.#at];
        if (next?.kind === 'text') {
          this.#at += 1;
          this.#call.print(next.text.replaceAll('\\n', '\n').replaceAll('\\t', '\t'));
        } else this.#call.print(this.#text(this.#or()));
      } while (this.#takes(','));
      return;
    }
    const assigns = token?.kind === 'name' && /^(?:=|[-+*/%^]=)$/.test(this.#tokens[this.#at + 1]?.text ?? '');
    const value = this.#or();
    if (!assigns) this.#call.print(`${folded(this.#text(value))}\n`);
  }

  #text(value: Decimal): string {
    return this.#outputBase === 10 ? decimalText(value) : digitsOf(value, this.#outputBase);
  }

  #or(): Decimal {
    let left = this.#and();
    while (this.#takes('||')) {
      const right = this.#and();
      left = truth(left.digits !== 0n || right.digits !== 0n);
    }
    return left;
  }

  #and(): Decimal {
    let left = this.#not();
    while (this.#takes('&&')) {
      const right = this.#not();
      left = truth(left.digits !== 0n && right.digits !== 0n);
    }
    return left;
  }

  #not(): Decimal {
    if (this.#takes('!')) return truth(this.#not().digits === 0n);
    return this.#comparison();
  }

  #comparison(): Decimal {
    let left = this.#sum();
    for (;;) {
      const operator = ['<=', '>=', '==', '!=', '<', '>'].find((mark) => this.#takes(mark));
      if (operator === undefined) return left;
      const [one, other] = shared(left, this.#sum());
      const [a, b] = [one.digits, other.digits];
      left = truth(
        { '<=': a <= b, '>=': a >= b, '==': a === b, '!=': a !== b, '<': a < b, '>': a > b }[operator] ?? false,
      );
    }
  }

  #sum(): Decimal {
    let left = this.#product();
    for (;;) {
      const plus = this.#takes('+');
      if (!plus && !this.#takes('-')) return left;
      const [one, other] = shared(left, this.#product());
      left = { digits: plus ? one.digits + other.digits : one.digits - other.digits, scale: one.scale };
    }
  }

  #product(): Decimal {
    let left = this.#signed();
    for (;;) {
      const operator = ['*', '/', '%'].find((mark) => this.#takes(mark));
      if (operator === undefined) return left;
      left = this.#applied(operator, left, this.#signed());
    }
  }

  #applied(operator: string, left: Decimal, right: Decimal): Decimal {
    if (operator === '*') return multiplied(left, right, this.scale);
    if (operator === '^') return powered(left, right, this.scale);
    if (operator === '+' || operator === '-') {
      const [one, other] = shared(left, right);
      return { digits: operator === '+' ? one.digits + other.digits : one.digits - other.digits, scale: one.scale };
    }
    const quotient = divided(left, right, this.scale);
    if (operator === '/') return quotient;
    const scale = Math.max(this.scale + right.scale, left.scale);
    const product = scaled({ digits: quotient.digits * right.digits, scale: quotient.scale + right.scale }, scale);
    return { digits: scaled(left, scale).digits - product.digits, scale };
  }

  #signed(): Decimal {
    if (!this.#takes('-')) return this.#power();
    const { digits, scale } = this.#signed();
    return { digits: -digits, scale };
  }

  #power(): Decimal {
    const base = this.#primary();
    if (!this.#takes('^')) return base;
    return powered(base, this.#signed(), this.scale);
  }

  #primary(): Decimal {
    const token = this.#tokens[this.#at];
    if (token === undefined) throw new SyntaxTrouble('syntax error');
    this.#at += 1;
    if (token.kind === 'number') return numberOf(token.text, this.#inputBase);
    if (token.text === '(') {
      const value = this.#or();
      if (!this.#takes(')')) throw new SyntaxTrouble('syntax error');
      return value;
    }
    if (token.kind !== 'name') throw new SyntaxTrouble('syntax error');
    if (this.#takes('(')) {
      const value = this.#or();
      if (!this.#takes(')')) throw new SyntaxTrouble('syntax error');
      return this.#function(token.text, value);
    }
    return this.#variable(token.text);
  }

  #function(name: string, value: Decimal): Decimal {
    if (name === 'sqrt') return rootOf(value, Math.max(this.scale, value.scale));
    if (name === 'length') return { digits: BigInt(String(value.digits).replace('-', '').length), scale: 0 };
    if (name === 'scale') return { digits: BigInt(value.scale), scale: 0 };
    throw new Lacking(`the function ${name} is not supported`);
  }

  #variable(name: string): Decimal {
    const operator = this.#tokens[this.#at]?.text ?? '';
    if (/^(?:if|while|for|define|return|read|break|continue|else|auto)$/.test(name))
      throw new Lacking(`${name} is not supported`);
    const setting = { scale: this.scale, ibase: this.#inputBase, obase: this.#outputBase }[name];
    const current =
      setting === undefined ? (this.#variables.get(name) ?? { digits: 0n, scale: 0 }) : scaledNumber(setting);
    if (!/^(?:=|[-+*/%^]=)$/.test(operator)) return current;
    this.#at += 1;
    const right = this.#or();
    const value = operator === '=' ? right : this.#applied(operator.slice(0, 1), current, right);
    if (name === 'scale') this.scale = Math.min(Number(scaled(value, 0).digits), 10_000);
    else if (name === 'ibase') this.#inputBase = Math.min(Math.max(Number(scaled(value, 0).digits), 2), HIGHEST_BASE);
    else if (name === 'obase') this.#setOutputBase(Number(scaled(value, 0).digits));
    else this.#variables.set(name, value);
    return value;
  }

  #setOutputBase(base: number): void {
    if (base > HIGHEST_BASE) throw new Lacking(`an obase above ${HIGHEST_BASE} is not supported`);
    this.#outputBase = Math.max(base, 2);
  }

  #takes(text: string): boolean {
    const token = this.#tokens[this.#at];
    if (token?.text !== text || token.kind === 'text') return false;
    this.#at += 1;
    return true;
  }
}

function tokensOf(line: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < line.length) {
    const found = TOKEN.exec(line);
    if (found === null) throw new SyntaxTrouble('syntax error');
    const [, text, number, name, mark] = found;
    if (text !== undefined) tokens.push({ kind: 'text', text });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (name !== undefined) tokens.push({ kind: 'name', text: name });
    else if (mark !== undefined) tokens.push({ kind: 'mark', text: mark });
  }
  return tokens;
}

function scaledNumber(whole: number): Decimal {
  return { digits: BigInt(whole), scale: 0 };
}

function truth(holds: boolean): Decimal {
  return { digits: holds ? 1n : 0n, scale: 0 };
}

/** A long number goes on in the next line, behind a backslash. */
function folded(text: string): string {
  if (text.length <= LINE) return text;
  return [...text.matchAll(/.{1,68}/g)].map(([part]) => part).join('\\\n');
}
