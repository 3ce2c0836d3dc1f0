/** `readline` over streams; there is no terminal. */
'use strict';
const EventEmitter = require('events');
const { StringDecoder } = require('node:string_decoder');
class Interface extends EventEmitter {
  #rest = '';
  #decoder = new StringDecoder('utf8');
  #questions = [];
  #prompt;
  #output;
  #waiting = [];
  #isPaused = false;
  closed = false;
  terminal = false;
  line = '';
  constructor(input, output) {
    super();
    const options = typeof input?.on === 'function' ? { input, output } : (input ?? {});
    this.input = options.input;
    this.#output = options.output;
    this.#prompt = options.prompt ?? '> ';
    if (typeof this.input?.on !== 'function')
      throw require('argument_errors').invalid('input', 'an instance of Stream', this.input);
    this.input.on('data', (chunk) => this.#take(typeof chunk === 'string' ? chunk : this.#decoder.write(chunk)));
    this.input.on('end', () => {
      const text = this.#rest + this.#decoder.end();
      this.#rest = '';
      if (text !== '') this.#line(text.replace(/\r$/, ''));
      this.#end();
    });
    options.signal?.addEventListener('abort', () => this.close());
  }
  #take(text) {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop();
    for (const line of lines) this.#line(line);
  }
  #line(line) {
    if (this.closed) return;
    if (this.#isPaused) return void this.#waiting.push(line);
    this.line = line;
    const question = this.#questions.shift();
    if (question === undefined) this.emit('line', line);
    else question(line);
  }
  #end() {
    if (this.#isPaused && this.#waiting.length > 0) this.#waiting.push(null);
    else this.close();
  }
  close() {
    if (this.closed) return;
    this.closed = true;
    this.input.pause?.();
    this.emit('close');
  }
  pause() {
    this.#isPaused = true;
    this.input.pause?.();
    this.emit('pause');
    return this;
  }
  resume() {
    this.#isPaused = false;
    for (let line = this.#waiting.shift(); line !== undefined && !this.#isPaused; line = this.#waiting.shift()) {
      if (line === null) {
        this.close();
        return this;
      }
      this.#line(line);
    }
    this.input.resume?.();
    this.emit('resume');
    return this;
  }
  setPrompt(text) {
    this.#prompt = text;
  }
  getPrompt() {
    return this.#prompt;
  }
  prompt() {
    if (this.#isPaused) this.resume();
    this.write(this.#prompt);
  }
  write(text) {
    if (text !== undefined && text !== null) this.#output?.write(String(text));
  }
  question(query, options, callback = options) {
    if (this.closed) throw require('argument_errors').coded(new Error('readline was closed'), 'ERR_USE_AFTER_CLOSE');
    this.write(query);
    this.#questions.push(callback);
    this.resume();
  }
  [Symbol.asyncIterator]() {
    const lines = EventEmitter.on(this, 'line', { close: ['close'] });
    return {
      next: async () => {
        const { value, done } = await lines.next();
        return { value: value?.[0], done };
      },
      return: async () => {
        this.close();
        return lines.return();
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }
}
const nothing = (_stream, ...args) => {
  const callback = args.findLast((one) => typeof one === 'function');
  callback?.();
  return true;
};
module.exports = {
  Interface,
  createInterface: (input, output) => new Interface(input, output),
  clearLine: nothing,
  clearScreenDown: nothing,
  cursorTo: nothing,
  moveCursor: nothing,
  emitKeypressEvents: () => {
    throw new Error('readline.emitKeypressEvents is not here: a program has no terminal');
  },
  get promises() {
    return require('node:readline/promises');
  },
};
