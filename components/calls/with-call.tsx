/** Marks the forms in it with the call that they make. It takes no room of its own. */
import type { ReactNode } from 'react';
import { callMark, callMarks, type MarkedCall } from './call-mark.ts';

export function WithCall({ children, ...call }: MarkedCall & { children: ReactNode }) {
  return (
    <div className="contents" {...callMark(call)}>
      {children}
    </div>
  );
}

/** `by`: the call of each button by its value; null for one without. */
export function WithCalls({ by, children }: { by: Readonly<Record<string, MarkedCall | null>>; children: ReactNode }) {
  return (
    <div className="contents" {...callMarks(by)}>
      {children}
    </div>
  );
}
