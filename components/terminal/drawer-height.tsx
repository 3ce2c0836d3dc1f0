'use client';
/**
 * The upper edge of the drawer: dragged, or moved by the arrow keys. The height is a share of the window, kept in this
 * browser; the page below ends where the drawer begins.
 */
import { type KeyboardEvent, type PointerEvent, useEffect, useState } from 'react';

const KEY = 'winterdock.drawer-height';
/** Percent of the window's height. */
const LEAST = 25;
const MOST = 100;
const FIRST = 50;
const STEP = 5;

const within = (percent: number) => Math.min(MOST, Math.max(LEAST, Math.round(percent)));

function keptHeight(): number {
  try {
    return within(Number(localStorage.getItem(KEY) ?? FIRST) || FIRST);
  } catch {
    // Storage is refused.
    return FIRST;
  }
}

/** The drawer's height in percent of the window's, and how to change it. */
export function useDrawerHeight(): [height: number, setHeight: (percent: number) => void] {
  const [height, setHeight] = useState(keptHeight);
  useEffect(() => {
    const { style } = document.documentElement;
    style.setProperty('--drawer-height', `${height}dvh`);
    try {
      localStorage.setItem(KEY, String(height));
    } catch {
      // Storage is refused: the next drawer has its first height.
    }
    return () => void style.removeProperty('--drawer-height');
  }, [height]);
  return [height, (percent) => setHeight(within(percent))];
}

export function DrawerEdge({ height, onHeight }: { height: number; onHeight: (percent: number) => void }) {
  const onKeyDown = (event: KeyboardEvent) => {
    const next = { ArrowUp: height + STEP, ArrowDown: height - STEP, Home: MOST, End: LEAST }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    onHeight(next);
  };
  const onPointerMove = ({ currentTarget, pointerId, clientY }: PointerEvent) => {
    if (!currentTarget.hasPointerCapture(pointerId)) return;
    onHeight((1 - clientY / window.innerHeight) * 100);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: an <hr> takes no focus; this one is moved.
    <div
      role="separator"
      tabIndex={0}
      aria-orientation="horizontal"
      aria-label="Height of the terminal"
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
      aria-valuenow={height}
      aria-valuetext={`${height} percent of the window`}
      className="absolute inset-x-0 top-0 flex h-3 cursor-ns-resize touch-none justify-center focus-visible:outline-2 focus-visible:-outline-offset-2 max-md:hidden"
      onKeyDown={onKeyDown}
      onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
      onPointerMove={onPointerMove}
    >
      <span className="mt-1 h-1 w-12 rounded-full bg-rule-2" />
    </div>
  );
}
