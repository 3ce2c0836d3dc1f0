/** `expr`. */
import { type CommandCall, inQuotes, type OwnCommand } from './own-command.ts';
import { RegexError, translateRegex } from './posix-regex.ts';

const TROUBLE = 2;
const LEVELS: readonly (readonly string[])[] = [
  ['|'],
  ['&'],
  ['<', '<=', '=', '==', '!=', '>=', '>'],
  ['+', '-'],
  ['*', '/', '%'],
  [':'],
];

export const expr: OwnCommand = {
  usageExit: TROUBLE,
  main(call: CommandCall) {
    const [first] = call.args;
    if (first === '--help' || first === '--version') call.options({ letters: '' });
    const words = first === '--' ? call.args.slice(1) : [...call.args];
    if (words.length === 0) call.usage('missing operand');
    const value = new Expression(call, words).whole();
    call.print(`${value}\n`);
    return isNull(value) ? 1 : 0;
  },
};

const isNull = (value: string) => value === '' || /^-?0+$/.test(value);

class Expression {
  readonly #call: CommandCall;
  readonly #words: string[];
  #at = 0;

  constructor(call: CommandCall, words: string[]) {
    this.#call = call;
    this.#words = words;
  }

  whole(): string {
    const value = this.#level(0);
    const rest = this.#words[this.#at];
    if (rest !== undefined) this.#call.end(`syntax error: unexpected argument ${marks(rest)}`, TROUBLE);
    return value;
  }

  #level(depth: number): string {
    const operators = LEVELS[depth];
    if (operators === undefined) return this.#primary();
    let left = this.#level(depth + 1);
    for (;;) {
      const operator = this.#words[this.#at] ?? '';
      if (!operators.includes(operator)) return left;
      this.#at += 1;
      left = this.#apply(operator, left, this.#level(depth + 1));
    }
  }

  #primary(): string {
    const word = this.#words[this.#at];
    if (word === undefined)
      this.#call.end(`syntax error: missing argument after ${marks(this.#words[this.#at - 1] ?? '')}`, TROUBLE);
    this.#at += 1;
    switch (word) {
      case '+':
        return this.#words[this.#at++] ?? '';
      case '(': {
        const value = this.#level(0);
        if (this.#words[this.#at] !== ')')
          this.#call.end(`syntax error: expecting ')' after ${marks(this.#words[this.#at - 1] ?? '')}`, TROUBLE);
        this.#at += 1;
        return value;
      }
      case 'length':
        return String([...this.#primary()].length);
      case 'match':
        return this.#match(this.#primary(), this.#primary());
      case 'index': {
        const [text, letters] = [[...this.#primary()], [...this.#primary()]];
        return String(text.findIndex((one) => letters.includes(one)) + 1);
      }
      case 'substr': {
        const text = [...this.#primary()];
        const [from, count] = [Number(this.#primary()), Number(this.#primary())];
        return from >= 1 && count >= 1 ? text.slice(from - 1, from - 1 + count).join('') : '';
      }
      default:
        return word;
    }
  }

  #apply(operator: string, left: string, right: string): string {
    switch (operator) {
      case '|':
        return isNull(left) ? (isNull(right) ? (right === '' ? '0' : right) : right) : left;
      case '&':
        return isNull(left) || isNull(right) ? '0' : left;
      case ':':
        return this.#match(left, right);
      case '+':
      case '-':
      case '*':
      case '/':
      case '%':
        return this.#calculate(operator, left, right);
      default:
        return compare(operator, left, right) ? '1' : '0';
    }
  }

  #calculate(operator: string, left: string, right: string): string {
    if (![left, right].every(isInteger)) this.#call.end('non-integer argument', TROUBLE);
    const [one, other] = [BigInt(left), BigInt(right)];
    if (operator === '+') return String(one + other);
    if (operator === '-') return String(one - other);
    if (operator === '*') return String(one * other);
    if (other === 0n) this.#call.end('division by zero', TROUBLE);
    return String(operator === '/' ? one / other : one % other);
  }

  #match(text: string, pattern: string): string {
    try {
      const { source, groups } = translateRegex(pattern, { syntax: 'basic', unicode: true, lineEnd: '' });
      const found = new RegExp(`^(?:${source})`, 'u').exec(text);
      if (groups > 0) return found?.[1] ?? '';
      return String(found === null ? 0 : [...found[0]].length);
    } catch (error) {
      if (!(error instanceof RegexError)) throw error;
      return this.#call.end(error.message, TROUBLE);
    }
  }
}

const isInteger = (text: string) => /^-?\d+$/.test(text);
const marks = (text: string) => inQuotes(text).replace(/^'/, '‘').replace(/'$/, '’');

function compare(operator: string, left: string, right: string): boolean {
  const numbers = isInteger(left) && isInteger(right);
  const order = numbers ? Number(BigInt(left) - BigInt(right)) : Buffer.compare(Buffer.from(left), Buffer.from(right));
  switch (operator) {
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    case '!=':
      return order !== 0;
    default:
      return order === 0;
  }
}
