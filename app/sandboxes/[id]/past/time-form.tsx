/** A time is typed, or two between which is compared: plain forms, so that they work without JavaScript. */
import type { ReactNode } from 'react';
import { zoneLabel } from '#components/ui/zones.ts';
import { timeFieldOf } from './moment-words.ts';
import type { PastView } from './past-address.ts';

function TimeField({
  name,
  title,
  valueMs,
  zone,
}: {
  name: 'at' | 'to';
  title: string;
  valueMs: number | null;
  zone: string;
}) {
  const value = valueMs === null ? undefined : timeFieldOf(valueMs, zone);
  return (
    <label className="block min-w-0">
      <span className="field-name">{title}</span>
      <input type="datetime-local" step={1} className="input" name={name} key={value} required defaultValue={value} />
    </label>
  );
}

function OneForm({ id, view, zone, children }: { id: string; view: PastView; zone: string; children: ReactNode }) {
  return (
    <form action={`/sandboxes/${id}#past`} className="flex flex-wrap items-end gap-3">
      <input type="hidden" name="tab" value="past" />
      <input type="hidden" name="zone" value={zone} />
      {view.volume !== null && <input type="hidden" name="volume" value={view.volume} />}
      {view.path !== null && <input type="hidden" name="path" value={view.path} />}
      {children}
    </form>
  );
}

/** `open` and `laterMs`: what is shown, in epoch milliseconds; `nowMs`: the server's time. */
export function TimeForms({
  id,
  view,
  open,
  laterMs,
  nowMs,
  zone,
}: {
  id: string;
  view: PastView;
  open: number | null;
  laterMs: number | null;
  nowMs: number;
  zone: string;
}) {
  const label = zoneLabel(nowMs / 1000, zone);
  const then = open ?? (view.at === null || view.at.time === null ? null : view.at.time * 1000);
  return (
    <div className="flex flex-wrap items-end gap-x-6 gap-y-3">
      <OneForm id={id} view={view} zone={zone}>
        <TimeField name="at" title={`As it was up to (${label})`} valueMs={then} zone={zone} />
        <button type="submit" className="button">
          Open it
        </button>
      </OneForm>
      <details className="unfold act" open={laterMs !== null}>
        <summary>What changed between two times</summary>
        <div className="my-3">
          <OneForm id={id} view={view} zone={zone}>
            <TimeField name="at" title={`From (${label})`} valueMs={then} zone={zone} />
            <TimeField name="to" title={`Up to (${label})`} valueMs={laterMs ?? nowMs} zone={zone} />
            <button type="submit" className="button">
              Compare them
            </button>
          </OneForm>
        </div>
      </details>
    </div>
  );
}
