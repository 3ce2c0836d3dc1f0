/**
 * What of the component is left out, named for those who hear the page, or said in the house's way. Its Markdown would
 * be markup made of texts, which the console's policy refuses everywhere.
 */
import type { Component, Plugin, System } from 'swagger-ui-dist/swagger-ui-es-bundle.js';

const nothing: Component = () => null;

/** The table of possible answers calls itself a region, of which there would be many without a name: it is a table. */
function beTable(place: HTMLElement | null): void {
  place?.querySelector('table[role="region"]')?.removeAttribute('role');
}

/** The component's plugin. Its layout, named `HouseLayout`, is the list of operations and nothing else. */
export function explorerPlugin({ React: { createElement } }: System): Plugin {
  return {
    components: {
      HouseLayout: ({ getComponent }) =>
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
      // A parameter's field, whichever it is, is named by the parameter.
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
