/**
 * A terminal session: keys go to the line editor, lines are run, output goes to the screen. The sandbox's shell has no
 * terminal of its own: each line is a separate run, in the directory that the one before left. It knows nothing of
 * React.
 */
import type { Terminal } from '@xterm/xterm';
import { clustersOf } from './cells.ts';
import { completionNames, completionQuery, continuation } from './completion.ts';
import { endLines, resultOf, STYLE, type TerminalLine, wakeLine } from './endings.ts';
import { readHistory, writeHistory } from './history.ts';
import { keysOf } from './keys.ts';
import { type Editor, type EditorKey, emptyEditor, press } from './line-editor.ts';
import { cursorToStart, layOut, renderLayout } from './line-layout.ts';
import { type ScreenPosition, StreamText } from './output.ts';
import { type RunOutcome, runTyped } from './runs.ts';
import type { Language, WakeResult } from './words.ts';

export interface SessionListener {
  /** A run begins; for a screen reader. */
  onBegin(line: string): void;
  /** Output and endings as plain text; for a screen reader. */
  onSaid(text: string): void;
  /** The line changed without typing: recalled or completed. */
  onShown(line: string): void;
  onRunning(running: boolean): void;
  /** A key was pressed or something was printed. */
  onUsed(): void;
  /** The sandbox was asleep and is awake now. */
  onWoke(): void;
  /** The keyboard focus leaves the terminal. */
  onLeave(): void;
}

/** Most keys kept while a command runs. */
const AHEAD = 1000;
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
  #running: AbortController | null = null;
  #ahead: EditorKey[] = [];
  #lastOutput = '';
  #closed = false;

  constructor(terminal: Terminal, where: { id: string; person: string }, listener: SessionListener) {
    this.#id = where.id;
    this.#person = where.person;
    this.#terminal = terminal;
    this.#listener = listener;
    this.#editor = emptyEditor(readHistory(where.person, where.id));
    terminal.attachCustomKeyEventHandler((event) => this.#takesKey(event));
    terminal.onData((sent) => this.#take(sent));
    terminal.onResize(() => this.#running === null && this.#draw());
    // A paste is one piece and runs nothing by itself.
    terminal.write('\x1b[?2004h');
    this.#draw();
  }

  get language(): Language {
    return this.#language;
  }

  set language(language: Language) {
    this.#language = language;
    if (this.#running === null) this.#draw();
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
    this.#running?.abort();
  }

  /** Stops the running command and writes nothing more, because the screen closes. */
  close(): void {
    this.#closed = true;
    this.stop();
  }

  clear(): void {
    this.#terminal.write('\x1b[2J\x1b[3J\x1b[H');
    this.#row = 0;
    if (this.#running === null) this.#draw();
  }

  /** Whether the emulator handles a key; the browser handles the others. */
  #takesKey(event: KeyboardEvent): boolean {
    const { key, ctrlKey, shiftKey, altKey, metaKey, type } = event;
    const command = (ctrlKey || metaKey) && !altKey;
    if (key === 'Tab' && (shiftKey || this.#running !== null || this.#editor.text === '')) return false;
    if (/^F\d+$/.test(key) || (command && key.toLowerCase() === 'v')) return false;
    const copies = command && key.toLowerCase() === 'c' && (shiftKey || metaKey || this.#terminal.hasSelection());
    const breaks = key === 'Enter' && shiftKey;
    if (!copies && !breaks) return true;
    event.preventDefault();
    if (type === 'keydown' && copies) copyText(this.#terminal, this.#terminal.getSelection());
    if (type === 'keydown' && breaks && this.#running === null) this.#press({ name: 'newline' });
    return false;
  }

  #take(sent: string): void {
    this.#listener.onUsed();
    const running = this.#running !== null;
    if (running && sent === '\x03') this.stop();
    else if (running && sent === '\x1b') this.#listener.onLeave();
    else this.#takeKeys(keysOf(sent));
  }

  /** Keys that come while a command runs wait for its end. */
  #takeKeys(keys: readonly EditorKey[]): void {
    for (const key of keys) {
      if (this.#running === null) this.#press(key);
      else if (this.#ahead.length < AHEAD) this.#ahead.push(key);
    }
  }

  #press(key: EditorKey): void {
    const [next, command] = press(this.#editor, key);
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
      if (command === 'clear') this.clear();
      else if (command === 'leave') this.#listener.onLeave();
      else if (command === 'complete') void this.#complete();
      else this.#draw();
      if (recalled) this.#listener.onShown(next.text);
    }
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
    const wanted = completionQuery(text.slice(0, at), this.#cwd);
    const names = await completionNames(this.#id, wanted);
    // Keys typed while the completion was read take precedence over it.
    if (this.#editor.text !== text || this.#editor.at !== at || this.#running !== null) return;
    const more = continuation(wanted, names);
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
    const stop = new AbortController();
    const streams = {
      stdout: new StreamText(this.#place),
      stderr: new StreamText(this.#place, { sign: '! ', base: '31' }),
    };
    this.#running = stop;
    this.#lastOutput = '';
    this.#place.fresh = true;
    this.#listener.onRunning(true);
    this.#listener.onBegin(text);
    const outcome = await runTyped(
      this.#id,
      { language: this.#language, text, cwd: this.#cwd },
      {
        onWoke: (woke) => this.#woke(woke),
        onOutput: async (stream, piece) => {
          if (stop.signal.aborted) return;
          this.#listener.onUsed();
          if (this.#lastOutput.length < COPIED) this.#lastOutput += piece;
          this.#listener.onSaid(piece);
          await this.#write(streams[stream].take(piece));
        },
      },
      stop.signal,
    );
    if (this.#closed) return;
    this.#ended(outcome);
    this.#running = null;
    this.#listener.onRunning(false);
    this.#draw();
    this.#takeKeys(this.#ahead.splice(0));
  }

  /** Resolves when the emulator has taken the text, so that a flood is read no faster than it is shown. */
  #write(text: string): Promise<void> {
    return new Promise((resolve) => this.#terminal.write(text, resolve));
  }

  #woke(woke: WakeResult): void {
    const line = wakeLine(woke);
    if (line === null) return;
    this.#listener.onWoke();
    this.#tell(line);
  }

  #ended(outcome: RunOutcome): void {
    if (typeof outcome === 'object' && 'exit' in outcome) this.#cwd = outcome.exit.cwd;
    if (typeof outcome === 'object' && 'evaluated' in outcome) {
      if (this.#lastOutput === '') this.#lastOutput = resultOf(outcome.evaluated) ?? '';
      if (outcome.evaluated.woke !== 'hot') this.#listener.onWoke();
    }
    for (const line of endLines(outcome)) this.#tell(line);
  }

  /** Writes one of the terminal's own lines, on a new line. */
  #tell({ line, spoken }: TerminalLine): void {
    this.#terminal.write(`${this.#place.fresh ? '' : '\r\n'}${line}\r\n`);
    this.#place.fresh = true;
    this.#listener.onSaid(`\n${spoken}\n`);
  }
}

/** Copies a text, also where the page may not use the clipboard API. It clears the selection. */
function copyText(terminal: Terminal, text: string): void {
  if (text === '') return;
  terminal.clearSelection();
  const byHand = () => {
    const { textarea } = terminal;
    if (textarea === undefined) return;
    textarea.value = text;
    textarea.select();
    document.execCommand('copy');
    textarea.value = '';
  };
  if (navigator.clipboard === undefined) byHand();
  else navigator.clipboard.writeText(text).catch(byHand);
}
