'use client';
/** The form that runs a component or a whole workflow: one field for each declared input, and what the run came to. */
import { useActionState } from 'react';
import type { ComponentPort } from '#lib/contract/schema.ts';
import { Field } from '../ui/field.tsx';
import { Outcome } from '../ui/outcome.tsx';
import type { CallProgress } from './call-progress.ts';
import { ComponentCallView, LogView, WorkflowCallView } from './call-result.tsx';
import { controlOf, fieldOf } from './port-values.ts';
import type { RunState } from './run-state.ts';
import { type CallTarget, useLiveRun } from './use-live-run.ts';

export type RunAction = (previous: RunState, form: FormData) => Promise<RunState>;

const START: RunState = { values: {}, errors: {}, problem: null, result: null };

const NOTES: Readonly<Record<ReturnType<typeof controlOf>, string>> = {
  text: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  json: 'as JSON',
  base64: 'in base64',
};

function PortField({
  port,
  value,
  error,
}: {
  port: ComponentPort;
  value: string | undefined;
  error: string | undefined;
}) {
  const control = controlOf(port);
  const { name, type, optional } = port;
  const note = `${type === 'string' ? 'string' : type}, ${NOTES[control]}${optional ? '; may stay empty' : ''}`;
  return (
    <Field form="run" name={fieldOf(port)} title={<code>{name}</code>} error={error && `It ${error}.`} note={note}>
      {(props) => {
        if (control === 'boolean') {
          return (
            <select {...props} key={value} className="input" defaultValue={value ?? (optional ? '' : 'false')}>
              {optional && <option value="">not given</option>}
              <option value="false">false</option>
              <option value="true">true</option>
            </select>
          );
        }
        if (control === 'json' || control === 'base64') {
          return (
            <textarea
              {...props}
              className="input font-mono text-[0.8125rem]"
              rows={3}
              defaultValue={value}
              spellCheck={false}
              autoCapitalize="none"
              autoComplete="off"
            />
          );
        }
        const isNumber = control === 'number' || control === 'integer';
        return (
          <input
            {...props}
            className="input"
            defaultValue={value}
            inputMode={isNumber ? 'decimal' : undefined}
            autoComplete="off"
          />
        );
      }}
    </Field>
  );
}

function Progress({ progress: { woke, running, ended, logs }, isOne }: { progress: CallProgress; isOne: boolean }) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <p role="status" className="text-ink-2 [overflow-wrap:anywhere]">
        {woke === null ? 'Waking it…' : running.length === 0 ? 'Running…' : `Running ${running.join(', ')}…`}
        {ended.length > 0 && ` ${ended.length.toLocaleString('en')} done.`}
      </p>
      <LogView logs={logs} isOne={isOne} />
    </div>
  );
}

/** `action` runs it without JavaScript; with it, the call is followed while it runs. */
export function RunForm({
  target,
  ports,
  action,
  button,
}: {
  target: CallTarget;
  ports: readonly ComponentPort[];
  action: RunAction;
  button: string;
}) {
  const [posted, submit] = useActionState(action, START);
  const live = useLiveRun(target, ports);
  const { values, errors, problem, result } = live.state ?? posted;
  const isOne = target.kind === 'component';
  const isRunning = live.progress !== null;
  return (
    <form
      action={submit}
      onSubmit={(event) => {
        event.preventDefault();
        live.start(new FormData(event.currentTarget));
      }}
      className="grid grid-cols-[minmax(0,1fr)] gap-5"
      noValidate
    >
      {ports.length > 0 && (
        <div className="grid items-start gap-x-6 gap-y-4 sm:grid-cols-2">
          {ports.map((port) => (
            <PortField key={port.name} port={port} value={values[port.name]} error={errors[port.name]} />
          ))}
        </div>
      )}
      <div className="flex flex-wrap gap-3">
        <button
          type="submit"
          className="button button-ink"
          aria-busy={isRunning}
          aria-disabled={isRunning || undefined}
        >
          {isRunning ? 'Running…' : button}
        </button>
        {isRunning && (
          <button type="button" className="button" onClick={live.stop}>
            Stop it
          </button>
        )}
      </div>
      {live.progress !== null && <Progress progress={live.progress} isOne={isOne} />}
      <Outcome outcome={problem} />
      {result !== null && 'component' in result && <ComponentCallView path={target.path} answer={result.component} />}
      {result !== null && 'workflow' in result && <WorkflowCallView answer={result.workflow} />}
    </form>
  );
}
