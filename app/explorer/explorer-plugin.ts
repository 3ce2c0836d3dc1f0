/**
 * The Swagger UI plugin: parts that are left out, labelled for screen readers, or reworded. Its Markdown is switched
 * off: it would turn text into markup, which the console's content policy forbids.
 */
import type { Component, Plugin, System } from 'swagger-ui-dist/swagger-ui-es-bundle.js';

const nothing: Component = () => null;

/** The table of responses has the role of an unnamed region, once per operation: it gets the role of a table. */
function beTable(place: HTMLElement | null): void {
  place?.querySelector('table[role="region"]')?.removeAttribute('role');
}

/** The plugin. Its layout, `OperationsLayout`, is the list of operations and nothing else. */
export function explorerPlugin({ React: { createElement } }: System): Plugin {
  return {
    components: {
      OperationsLayout: ({ getComponent }) =>
        createElement(
          'div',
          null,
          createElement(getComponent('errors', true), null),
          createElement(getComponent('operations', true), null),
        ),
      authorizeOperationBtn: nothing,
      Markdown: ({ source }) =>
        createElement(
          'span',
          null,
          ...String(source ?? '')
            .split('`')
            .map((piece, at) => (at % 2 === 1 ? createElement('code', null, piece) : piece)),
        ),
      TextArea: (properties) =>
        createElement('textarea', { ...properties, 'aria-label': 'Request body', spellCheck: false }),
    },
    wrapComponents: {
      responses: (Original) => (properties) =>
        createElement('div', { ref: beTable }, createElement(Original, properties)),
      // Every parameter's field is labelled with the parameter's name.
      JsonSchemaForm: (Original) => (properties) =>
        createElement(
          'label',
          { className: 'parameter-field' },
          createElement('span', { className: 'sr-only' }, String(properties.description ?? 'value')),
          createElement(Original, properties),
        ),
    },
  };
}
