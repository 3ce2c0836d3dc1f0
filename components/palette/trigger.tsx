'use client';
/**
 * Opens the command palette and the sheet of shortcuts: the button, the keys, and the dialogs. Their content is loaded
 * on first use; input that comes before that is kept. Without JavaScript the button is a link to the list of sandboxes.
 */
import { type ComponentType, useEffect, useRef, useState } from 'react';
import { Skeleton } from '../ui/skeleton.tsx';
import type { PaletteProps } from './palette.tsx';
import { NO_INPUT, type PendingInput } from './pending-input.ts';
import { Shortcuts } from './shortcuts.tsx';

type Sheet = ComponentType<{ onClose: () => void }>;
type Inside = ComponentType<PaletteProps>;

const loadPalette = async () => (await import('./palette.tsx')).Palette;
const loadSheet = async () => (await import('./help-sheet.tsx')).HelpSheet;

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
        onChange={({ target }) => onStart({ typed: target.value, entered: false })}
        onKeyDown={({ key }) => key === 'Enter' && onStart({ ...start, entered: true })}
      />
      <Skeleton lines={4} says="Opening" />
    </div>
  );
}

export function PaletteTrigger({ actor, ask, move }: Pick<PaletteProps, 'actor' | 'ask' | 'move'>) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [ready, setReady] = useState(false);
  const [mac, setMac] = useState(false);
  const [open, setOpen] = useState(false);
  const [start, setStart] = useState(NO_INPUT);
  const [inside, setInside] = useState<Inside | null>(null);
  const [sheet, setSheet] = useState<Sheet | null>(null);
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
  const toggle = () => {
    if (dialog.current === null) return;
    if (dialog.current.open) return close();
    fetchInside();
    setStart(NO_INPUT);
    setOpen(true);
    dialog.current.showModal();
  };
  const showSheet = () => {
    loadSheet().then(
      (loaded) => setSheet(() => loaded),
      () => {},
    );
  };

  const Palette = inside;
  const HelpSheet = sheet;
  const look = 'button button-quiet palette-button';
  const label = (
    <>
      <MagnifyingGlass />
      <span className="palette-button-name">Jump to…</span>
      <kbd className="key palette-button-key">{mac ? '⌘ K' : 'Ctrl K'}</kbd>
    </>
  );
  return (
    <>
      {ready ? (
        <button
          type="button"
          className={look}
          aria-label="Jump to anything"
          aria-keyshortcuts={mac ? 'Meta+K' : 'Control+K'}
          onClick={toggle}
          onPointerEnter={fetchInside}
        >
          {label}
        </button>
      ) : (
        <a href="/sandboxes" className={look} aria-label="Jump to the list of sandboxes">
          {label}
        </a>
      )}
      <Shortcuts onPalette={toggle} onSheet={showSheet} />
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
            <Palette actor={actor} ask={ask} move={move} start={start} close={close} onSheet={showSheet} />
          ))}
      </dialog>
      {HelpSheet !== null && <HelpSheet onClose={() => setSheet(null)} />}
    </>
  );
}
