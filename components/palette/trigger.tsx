'use client';
/**
 * Opens what stands over a page: the command palette, the sheet of shortcuts, the panel of calls, a terminal. Each is
 * loaded on first use; what is typed for the palette before that is kept. Without JavaScript the button is a link to
 * the list of sandboxes.
 */
import { type ComponentType, useEffect, useRef, useState } from 'react';
import type { LoadTerminal, TerminalDrawer } from '../terminal/drawer.tsx';
import { readOpenDrawer, writeOpenDrawer } from '../terminal/drawer-state.ts';
import { Skeleton } from '../ui/skeleton.tsx';
import type { PaletteProps } from './palette.tsx';
import { NO_INPUT, type PendingInput } from './pending-input.ts';
import { Shortcuts } from './shortcuts.tsx';

type Sheet = ComponentType<{ onClose: () => void }>;
type Inside = ComponentType<PaletteProps>;

const loadPalette = async () => (await import('./palette.tsx')).Palette;
const loadDrawer = () => import('../terminal/drawer.tsx');
const SHEETS = {
  calls: async (): Promise<Sheet> => (await import('../calls/call-panel.tsx')).CallPanel,
  keys: async (): Promise<Sheet> => (await import('./help-sheet.tsx')).HelpSheet,
};
type SheetName = keyof typeof SHEETS;

function MagnifyingGlass() {
  return (
    <svg width="15" height="15" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <g fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round">
        <circle cx="6.75" cy="6.75" r="4.5" />
        <path d="M10.2 10.2 14 14" />
      </g>
    </svg>
  );
}

/** Stands in for the palette while it loads, and takes the input. */
function Loading({ start, onStart }: { start: PendingInput; onStart: (start: PendingInput) => void }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <div className="palette-body">
      <input
        ref={field}
        className="palette-field"
        aria-label="Find a sandbox, a tenant or a page"
        value={start.typed}
        onChange={({ target }) => onStart({ ...start, typed: target.value, entered: false })}
        onKeyDown={({ key }) => key === 'Enter' && onStart({ ...start, entered: true })}
      />
      <Skeleton lines={4} says="Opening" />
    </div>
  );
}

export function PaletteTrigger({
  actor,
  ask,
  move,
  terminal,
}: Pick<PaletteProps, 'actor' | 'ask' | 'move'> & { terminal: LoadTerminal }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [ready, setReady] = useState(false);
  const [mac, setMac] = useState(false);
  const [open, setOpen] = useState(false);
  const [start, setStart] = useState(NO_INPUT);
  const [inside, setInside] = useState<Inside | null>(null);
  const [sheets, setSheets] = useState<{ [name in SheetName]?: Sheet | undefined }>({});
  const [drawer, setDrawer] = useState<{ id: string; Drawer: typeof TerminalDrawer } | null>(null);
  useEffect(() => {
    setReady(true);
    setMac(/Mac|iPhone|iPad/.test(navigator.platform));
  }, []);

  const fetchInside = () => {
    // Without it the dialog stays as it is while loading; the next press tries again.
    loadPalette().then(
      (loaded) => setInside(() => loaded),
      () => {},
    );
  };
  const close = () => dialog.current?.close();
  const toggle = (forTerminal = false) => {
    if (dialog.current === null) return;
    if (dialog.current.open) return close();
    fetchInside();
    setStart({ ...NO_INPUT, forTerminal });
    setOpen(true);
    dialog.current.showModal();
  };
  const hide = (name: SheetName) => setSheets((all) => ({ ...all, [name]: undefined }));
  const show = (name: SheetName) => {
    SHEETS[name]().then(
      (loaded) => setSheets((all) => ({ ...all, [name]: loaded })),
      () => {},
    );
  };
  const toggleCalls = () => (sheets.calls === undefined ? show('calls') : hide('calls'));
  /** `id`: the sandbox whose terminal is wanted; without it the page or the last use says which. */
  const openDrawer = (id?: string) => {
    loadDrawer().then(
      ({ TerminalDrawer, sandboxOfDrawer }) => {
        const wanted = id ?? sandboxOfDrawer(actor);
        if (wanted === null) toggle(true);
        else if (wanted !== undefined) {
          writeOpenDrawer(actor, wanted);
          setDrawer({ id: wanted, Drawer: TerminalDrawer });
        }
      },
      () => {},
    );
  };
  const closeDrawer = () => {
    writeOpenDrawer(actor, null);
    setDrawer(null);
  };
  const toggleDrawer = () => (drawer === null ? openDrawer() : closeDrawer());
  const reopen = useRef(openDrawer);
  useEffect(() => {
    // A reload, or a page that is loaded as a whole, finds the drawer as it was.
    const last = readOpenDrawer(actor);
    if (last !== null) reopen.current(last);
  }, [actor]);

  const Palette = inside;
  const { calls: CallPanel, keys: HelpSheet } = sheets;
  const look = 'button button-quiet palette-button';
  const keyName = mac ? '⌘ K' : 'Ctrl K';
  const label = (
    <>
      <MagnifyingGlass />
      <span className="palette-button-name">Jump to…</span>
      <kbd className="key palette-button-key">{keyName}</kbd>
    </>
  );
  return (
    <>
      {ready ? (
        <button
          type="button"
          className={look}
          aria-label={`Jump to… ${keyName}`}
          aria-keyshortcuts={mac ? 'Meta+K' : 'Control+K'}
          onClick={() => toggle()}
          onPointerEnter={fetchInside}
        >
          {label}
        </button>
      ) : (
        <a href="/sandboxes" className={look} aria-label={`Jump to… ${keyName}: the list of sandboxes`}>
          {label}
        </a>
      )}
      <Shortcuts
        onPalette={() => toggle()}
        onSheet={() => show('keys')}
        onCalls={toggleCalls}
        onTerminal={toggleDrawer}
      />
      <dialog
        ref={dialog}
        className="palette"
        aria-label="Jump to anything"
        onClose={() => setOpen(false)}
        {...{ closedby: 'any' }}
      >
        {open &&
          (Palette === null ? (
            <Loading start={start} onStart={setStart} />
          ) : (
            <Palette
              actor={actor}
              ask={ask}
              move={move}
              start={start}
              close={close}
              onSheet={() => show('keys')}
              onCalls={toggleCalls}
              onTerminal={openDrawer}
            />
          ))}
      </dialog>
      {CallPanel !== undefined && <CallPanel onClose={() => hide('calls')} />}
      {HelpSheet !== undefined && <HelpSheet onClose={() => hide('keys')} />}
      {drawer !== null && (
        <drawer.Drawer key={drawer.id} id={drawer.id} actor={actor} ask={terminal} onClose={closeDrawer} />
      )}
    </>
  );
}
