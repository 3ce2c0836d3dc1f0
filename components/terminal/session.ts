/**
 * A terminal session: keys go to the line editor, lines to the server's terminal, and what happens there to the screen,
 * whoever typed it. The sandbox's shell has no terminal of its own: each line is a separate run, in the directory that
 * the one before left. It knows nothing of React.
 */
import type { Terminal } from '@xterm/xterm';
import { isDrawerKey } from '../palette/shortcut-table.ts';
import { clustersOf } from './cells.ts';
import { copyText } from './clipboard.ts';
import { completionOf, continuation } from './completion.ts';
import { actorIn, endLines, resultOf, STYLE, type TerminalLine, wakeLine } from './endings.ts';
import { readHistory, writeHistory } from './history.ts';
import { KeptTerminal, type ShownEvent } from './kept-terminal.ts';
import { keysOf } from './keys.ts';
import { type Editor, type EditorKey, emptyEditor, press } from './line-editor.ts';
import { cursorToStart, layOut, renderLayout } from './line-layout.ts';
import { outcomeIn, type RunOutcome } from './outcome.ts';
import { type ScreenPosition, StreamText } from './output.ts';
import { outputText } from './output-text.ts';
import { type Language, type WakeResult, waitInWords } from './run-words.ts';
import { isCompleteScript } from './script-complete.ts';

export interface SessionListener {
  /** A run begins; for a screen reader. */
  onBegin(line: string): void;
  /** Output and endings as plain text; for a screen reader. */
  onSaid(text: string): void;
  /** The line changed without typing: recalled or completed. */
  onShown(line: string): void;
  onRunning(running: boolean): void;
  /** What holds the sandbox awake may have changed. */
  onHeld(): void;
  /** The server's terminal is gone; a sentence. */
  onGone(because: string): void;
  /** The keyboard focus leaves the terminal. */
  onLeave(): void;
}

/** Most keys kept while a command runs. */
const AHEAD = 1000;
/** How long the stream may take to tell what a request was answered already. */
const STREAM_MS = 500;
/** Most characters of output kept for Copy. */
const COPIED = 1_000_000;

const { quiet, plain } = STYLE;
const MORE = { text: `${quiet}> ${plain}`, width: 2 };
const PROMPTS: Readonly<Record<Language, string>> = { shell: '$', js: 'js >', python: 'python >' };

const cells = (text: string) => clustersOf(text).reduce((sum, { width }) => sum + width, 0);

export class Session {
  readonly #id: string;
  readonly #person: string;
  readonly #terminal: Terminal;
  readonly #listener: SessionListener;
  readonly #place: ScreenPosition = { fresh: true, by: null };
  #editor: Editor;
  #language: Language = 'shell';
  #cwd = '/workspace';
  /** The row of the drawn layout that the cursor is in. */
  #row = 0;
  readonly #kept: KeptTerminal;
  #running = false;
  /** A line that was typed here, and that the server has not told of yet. */
  #own: string | null = null;
  #streams = this.#newStreams();
  #seen = { binary: false, truncated: false };
  #ahead: EditorKey[] = [];
  #lastOutput = '';
  #closed = false;

  constructor(terminal: Terminal, where: { id: string; terminal: string; person: string }, listener: SessionListener) {
    this.#id = where.id;
    this.#person = where.person;
    this.#terminal = terminal;
    this.#listener = listener;
    this.#editor = emptyEditor(readHistory(where.person, where.id));
    terminal.attachCustomKeyEventHandler((event) => this.#takesKey(event));
    terminal.onData((sent) => this.#takeInput(sent));
    terminal.onResize(() => !this.#running && this.#draw());
    // A paste is one piece and runs nothing by itself.
    terminal.write('\x1b[?2004h');
    this.#draw();
    this.#kept = new KeptTerminal(where.id, where.terminal, {
      onEvent: (event) => this.#take(event),
      onGone: (because) => this.#gone(because),
      onShown: () => listener.onHeld(),
    });
  }

  get language(): Language {
    return this.#language;
  }

  set language(language: Language) {
    this.#language = language;
    if (!this.#running) this.#draw();
  }

  /** Copies the selection, or else the last command's output. */
  copy(): void {
    copyText(this.#terminal, this.#terminal.getSelection() || this.#lastOutput);
  }

  /** Inserts text into the line, as if it had been typed. */
  type(text: string): void {
    this.#press({ name: 'text', text });
  }

  /** Stops the running command, here and on the server. */
  stop(): void {
    this.#ahead = [];
    if (this.#running) this.#kept.interrupt();
  }

  /** Writes nothing more, because the screen closes. What runs goes on. */
  close(): void {
    this.#closed = true;
    this.#kept.leave();
  }

  /** Removes the scrollback, here and at the server. */
  async clear(): Promise<void> {
    this.#wipe();
    if (!(await this.#kept.clear()) && !this.#closed) {
      this.#aside('The server was not reached: the scrollback is still there.');
    }
  }

  /** Removes what stands on the screen. */
  #wipe(): void {
    this.#terminal.write('\x1b[2J\x1b[3J\x1b[H');
    this.#row = 0;
    this.#place.fresh = true;
    if (!this.#running) this.#draw();
  }

  /** Whether the emulator handles a key; the browser handles the others. */
  #takesKey(event: KeyboardEvent): boolean {
    const { key, ctrlKey, shiftKey, altKey, metaKey, type } = event;
    const command = (ctrlKey || metaKey) && !altKey;
    if (isDrawerKey(event)) return false;
    if (key === 'Tab' && (shiftKey || this.#running || this.#editor.text === '')) return false;
    if (/^F\d+$/.test(key) || (command && key.toLowerCase() === 'v')) return false;
    const copies = command && key.toLowerCase() === 'c' && (shiftKey || metaKey || this.#terminal.hasSelection());
    const breaks = key === 'Enter' && shiftKey;
    if (!copies && !breaks) return true;
    event.preventDefault();
    if (type === 'keydown' && copies) copyText(this.#terminal, this.#terminal.getSelection());
    if (type === 'keydown' && breaks && !this.#running) this.#press({ name: 'newline' });
    return false;
  }

  #takeInput(sent: string): void {
    const running = this.#running;
    if (running && sent === '\x03') this.stop();
    else if (running && sent === '\x1b') this.#listener.onLeave();
    else this.#takeKeys(keysOf(sent));
  }

  /** Keys that come while a command runs wait for its end. */
  #takeKeys(keys: readonly EditorKey[]): void {
    for (const key of keys) {
      if (!this.#running) this.#press(key);
      else if (this.#ahead.length < AHEAD) this.#ahead.push(key);
    }
  }

  #press(key: EditorKey): void {
    const [next, command] = press(this.#editor, this.#isUnfinished(key) ? { name: 'newline' } : key);
    if (command === 'interrupt') {
      this.#close('^C');
      this.#editor = next;
      this.#draw();
    } else if (command !== null && typeof command === 'object') {
      this.#close();
      this.#editor = next;
      writeHistory(this.#person, this.#id, next.history);
      if (command.run.trim() === '') this.#draw();
      else void this.#run(command.run);
    } else {
      const recalled = next.back !== this.#editor.back;
      this.#editor = next;
      if (command === 'clear') this.#wipe();
      else if (command === 'leave') this.#listener.onLeave();
      else if (command === 'complete') void this.#complete();
      else this.#draw();
      if (recalled) this.#listener.onShown(next.text);
    }
  }

  /** Enter at the end of a script that cannot run as it stands begins its next line. */
  #isUnfinished({ name }: EditorKey): boolean {
    const { text, at, search } = this.#editor;
    const isEnter = name === 'enter' && this.#language === 'shell' && search === null && at === text.length;
    return isEnter && !isCompleteScript(text);
  }

  #prompt(): { text: string; width: number } {
    if (this.#editor.search !== null) {
      const text = `search “${this.#editor.search}”: `;
      return { text: `${quiet}${text}${plain}`, width: cells(text) };
    }
    // The directory's name comes from the sandbox and may hold control characters.
    const cwd = this.#cwd.replace(/[\p{Cc}\p{Cf}]/gu, '?');
    const short = cells(cwd) * 2 > this.#terminal.cols ? `…/${cwd.split('/').at(-1)}` : cwd;
    const text = this.#language === 'shell' ? `${short} ${PROMPTS.shell} ` : `${PROMPTS[this.#language]} `;
    const room = this.#terminal.cols - 2;
    return cells(text) > room
      ? { text: `${quiet}$ ${plain}`, width: 2 }
      : { text: `${quiet}${text}${plain}`, width: cells(text) };
  }

  #draw(editor = this.#editor, height = this.#terminal.rows): void {
    const { text, row } = renderLayout(layOut(editor, this.#prompt(), MORE, this.#terminal.cols), height);
    this.#terminal.write(cursorToStart(this.#row) + text);
    this.#row = row;
  }

  /** Keeps the line on the screen and begins a new one below it. */
  #close(sign = ''): void {
    this.#draw({ ...this.#editor, at: this.#editor.text.length, search: null }, Number.MAX_SAFE_INTEGER);
    this.#terminal.write(`${sign}\r\n`);
    this.#row = 0;
  }

  async #complete(): Promise<void> {
    const { text, at } = this.#editor;
    if (this.#language !== 'shell') return this.type('\t');
    const completion = await completionOf(this.#id, text.slice(0, at), this.#cwd);
    const { names } = completion;
    // Keys typed while the completion was read take precedence over it.
    if (this.#editor.text !== text || this.#editor.at !== at || this.#running) return;
    const more = continuation(completion);
    if (more !== '') {
      this.type(more);
    } else if (names.length > 1) {
      this.#close();
      this.#terminal.write(`${new StreamText(this.#place).take(names.join('  '))}\r\n`);
      this.#place.fresh = true;
      this.#draw();
    }
    if (names.length > 0) this.#listener.onShown(names.length === 1 ? this.#editor.text : names.join(', '));
  }

  async #run(text: string): Promise<void> {
    this.#own = text;
    this.#begin(text);
    const problem = await this.#kept.type(text, this.#language);
    if (problem === null) return;
    // A refusal that the terminal wrote down comes by its stream.
    await new Promise((resolve) => setTimeout(resolve, STREAM_MS));
    if (this.#closed || this.#own === null) return;
    this.#end({ problem });
  }

  /** A line runs from now on. */
  #begin(text: string): void {
    this.#running = true;
    this.#lastOutput = '';
    this.#place.fresh = true;
    this.#streams = this.#newStreams();
    this.#seen = { binary: false, truncated: false };
    this.#listener.onRunning(true);
    this.#listener.onBegin(text);
  }

  #newStreams() {
    return {
      stdout: new StreamText(this.#place),
      stderr: new StreamText(this.#place, { sign: '! ', base: '31' }),
    };
  }

  /** Takes what happened in the server's terminal. */
  async #take(event: ShownEvent): Promise<void> {
    if (this.#closed) return;
    const { data } = event;
    switch (event.event) {
      case 'line':
        return this.#line(String(data.text), String(data.cwd), data.language as Language, actorIn(data, this.#person));
      case 'waits':
        return this.#aside(waitInWords(data));
      case 'woke':
        return this.#woke(data as unknown as WakeResult);
      case 'stdout':
      case 'stderr':
        return this.#output(event.event, data);
      case 'gap':
        this.#seen.truncated = true;
        return this.#aside('… earlier output is no longer kept');
      case 'refused':
      case 'exit':
        return this.#end(outcomeIn(event, this.#seen));
      case 'note':
        this.#aside(String(data.text));
        return this.#listener.onHeld();
      case 'clear':
        return this.#cleared(actorIn(data, this.#person));
    }
  }

  /** The scrollback was removed. `who`: by whom, when it was somebody else. */
  #cleared(who: string | null): void {
    this.#wipe();
    if (who !== null) this.#aside(`${who} cleared the scrollback.`);
  }

  /** A line begins. One that was typed here stands on the screen already. `who`: who typed it, when somebody else. */
  #line(text: string, cwd: string, language: Language, who: string | null): void {
    if (who === null && this.#own === text) {
      this.#own = null;
      return;
    }
    this.#cwd = cwd;
    if (who !== null) {
      this.#erase();
      this.#terminal.write(`${quiet}${who}:${plain}\r\n`);
    }
    const typed = this.#editor;
    const chosen = this.#language;
    this.#editor = { ...emptyEditor([]), text, at: text.length };
    this.#language = language;
    this.#close();
    this.#editor = typed;
    this.#language = chosen;
    this.#begin(who === null ? text : `${who}: ${text}`);
  }

  async #output(stream: 'stdout' | 'stderr', data: Record<string, unknown>): Promise<void> {
    const encoding = data.encoding === 'base64' ? 'base64' : undefined;
    this.#seen.binary ||= encoding !== undefined;
    const piece = outputText(String(data.text), encoding);
    if (this.#lastOutput.length < COPIED) this.#lastOutput += piece;
    this.#listener.onSaid(piece);
    await this.#write(this.#streams[stream].take(piece));
  }

  /** Says something between the lines, above the one that is being typed. */
  #aside(words: string): void {
    if (!this.#running) this.#erase();
    this.#tell({ line: `${quiet}${words}${plain}`, spoken: words });
    if (!this.#running) this.#draw();
  }

  #gone(because: string): void {
    if (this.#closed) return;
    this.#running = true;
    this.#listener.onRunning(false);
    this.#listener.onGone(because);
  }

  /** Removes the line that is being typed from the screen. */
  #erase(): void {
    this.#terminal.write(`${cursorToStart(this.#row)}\x1b[J`);
    this.#row = 0;
  }

  /** Resolves when the emulator has taken the text, so that a flood is read no faster than it is shown. */
  #write(text: string): Promise<void> {
    return new Promise((resolve) => this.#terminal.write(text, resolve));
  }

  #woke(woke: WakeResult): void {
    const line = wakeLine(woke);
    if (line !== null) this.#tell(line);
    this.#listener.onHeld();
  }

  #end(outcome: RunOutcome): void {
    this.#own = null;
    if (typeof outcome === 'object' && 'exit' in outcome) this.#cwd = outcome.exit.cwd;
    if (typeof outcome === 'object' && 'evaluated' in outcome && this.#lastOutput === '')
      this.#lastOutput = resultOf(outcome.evaluated) ?? '';
    for (const line of endLines(outcome)) this.#tell(line);
    this.#running = false;
    this.#listener.onRunning(false);
    this.#listener.onHeld();
    this.#draw();
    this.#takeKeys(this.#ahead.splice(0));
  }

  /** Writes one of the terminal's own lines, on a new line. */
  #tell({ line, spoken }: TerminalLine): void {
    this.#terminal.write(`${this.#place.fresh ? '' : '\r\n'}${line}\r\n`);
    this.#place.fresh = true;
    this.#listener.onSaid(`\n${spoken}\n`);
  }
}
