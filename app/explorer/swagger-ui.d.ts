/** The parts of Swagger UI that the explorer uses; its own types cover an older entry point only. */
declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  interface Outgoing {
    url: string;
    userFetch?: typeof fetch;
  }
  interface Properties {
    getComponent(name: string, container?: boolean): Component;
    readonly source?: unknown;
    readonly description?: unknown;
  }
  export type Component = (properties: Properties) => unknown;
  export interface Plugin {
    components: Record<string, Component>;
    wrapComponents: Record<string, (original: Component) => Component>;
  }
  export interface System {
    React: { createElement(type: Component | string, properties: object | null, ...children: unknown[]): unknown };
  }
  interface Options {
    domNode: HTMLElement;
    spec: unknown;
    plugins: ((system: System) => Plugin)[];
    requestInterceptor(request: Outgoing): Outgoing;
    onComplete(): void;
    [option: string]: unknown;
  }
  export default function SwaggerUI(options: Options): unknown;
}
