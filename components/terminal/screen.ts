/**
 * The emulator on the page: xterm.js with the console's content policy, colours and typeface, as large as its element.
 * Loaded when a terminal is first opened. It knows nothing of lines or sandboxes.
 */
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import { UNICODE } from './cells.ts';
import { coloursOf, onThemeChange } from './colours.ts';

const SCROLLBACK = 5000;
const FONT_SIZE = 13;
/** The contrast that WCAG AA requires, whatever colours a program chooses. */
const CONTRAST = 4.5;

export interface Screen {
  terminal: Terminal;
  dispose(): void;
}

/**
 * Runs `open` while `createElement` returns style elements that put their rules into constructed style sheets: the
 * page's content policy forbids inline styles. The emulator creates its styles only while it opens.
 */
function withOwnedStyles(open: () => void): void {
  const create = document.createElement.bind(document);
  const standIn = () => {
    const sheet = new CSSStyleSheet();
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    const element = create('template');
    let rules = '';
    Object.defineProperties(element, {
      textContent: {
        get: () => rules,
        set: (text: string) => {
          rules = text;
          sheet.replaceSync(text);
        },
      },
      remove: {
        value: () => {
          document.adoptedStyleSheets = document.adoptedStyleSheets.filter((adopted) => adopted !== sheet);
          Element.prototype.remove.call(element);
        },
      },
    });
    return element;
  };
  document.createElement = ((name: string, options?: ElementCreationOptions) =>
    name === 'style' ? standIn() : create(name, options)) as typeof document.createElement;
  try {
    open();
  } finally {
    // The prototype's own method is visible again.
    Reflect.deleteProperty(document, 'createElement');
  }
}

interface Painter {
  _addStyle?: (element: HTMLElement, style: string) => void;
}

/**
 * The emulator sets colours without a class through the style attribute, which the content policy forbids. Setting them
 * through the object model is allowed.
 */
function paintByObjectModel(terminal: Terminal): void {
  const { _core } = terminal as unknown as {
    _core?: { _renderService?: { _renderer?: { value?: { _rowFactory?: Painter } } } };
  };
  const painter = _core?._renderService?._renderer?.value?._rowFactory;
  if (painter === undefined) return;
  painter._addStyle = (element, style) => {
    element.style.cssText += `${style};`;
  };
}

/** Opens an emulator in `place`, an element that is on the page and has a size. */
export function openScreen(place: HTMLElement, label: string): Screen {
  Terminal.strings.promptLabel = label;
  const terminal = new Terminal({
    allowProposedApi: true,
    convertEol: true,
    cursorBlink: false,
    cursorInactiveStyle: 'outline',
    fontFamily: getComputedStyle(place).fontFamily,
    fontSize: FONT_SIZE,
    fontWeightBold: 650,
    lineHeight: 1.35,
    minimumContrastRatio: CONTRAST,
    scrollback: SCROLLBACK,
    theme: coloursOf(place),
  });
  terminal.unicode.register(UNICODE);
  terminal.unicode.activeVersion = UNICODE.version;
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  withOwnedStyles(() => terminal.open(place));
  paintByObjectModel(terminal);
  fit.fit();
  const resized = new ResizeObserver(() => fit.fit());
  resized.observe(place);
  const themes = onThemeChange(() => {
    terminal.options.theme = coloursOf(place);
  });
  return {
    terminal,
    dispose() {
      resized.disconnect();
      themes();
      terminal.dispose();
    },
  };
}
