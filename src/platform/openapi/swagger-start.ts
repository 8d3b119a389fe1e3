import { EXAMPLE_ID, KIND_OF_COLLECTION } from '../http/dto/example-ids.js';

const EXAMPLES = Object.fromEntries(
  Object.entries(KIND_OF_COLLECTION).map(([collection, kind]) => [collection, EXAMPLE_ID[kind]]),
);

/**
 * Program of the page. Beyond starting Swagger UI, without the validator's badge, which would send the document to an
 * external server, it
 * - fills fields with the ids of the newest resources that the page has seen in place of example ids, so that examples work,
 *   and replaces those in bodies; what deletes or cancels is sent as it is shown;
 * - filters operations by method, path and summary (Swagger UI filters tags only);
 * - resolves the references of an operation that is opened: Swagger UI parses the whole document each time, which takes a
 *   second, and reports errors for a schema that contains itself;
 * - shows the introduction's chapters after the operations;
 * - follows the colour scheme of the browser.
 */
export const START = `window.addEventListener('load', () => {
  const EXAMPLES = ${JSON.stringify(EXAMPLES)};
  const known = new Map();
  let chapters = '';

  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', follow);
  follow();

  const substituted = (text) => [...known].reduce((result, [example, id]) => result.replaceAll(example, id), text);

  const isSentAsShown = ({ method, url }) => method === 'DELETE' || /\\/(cancel|rotate-secret|revoke)$/.test(new URL(url).pathname);

  const requestInterceptor = (request) => {
    if (request.loadSpec || isSentAsShown(request)) return request;
    request.url = substituted(request.url);
    if (typeof request.body === 'string') request.body = substituted(request.body);
    return request;
  };

  const responseInterceptor = (response) => {
    if (chapters === '' && response.url.endsWith('openapi.json')) {
      const document = JSON.parse(response.text);
      const [introduction, ...rest] = document.info.description.split(/\\n(?=## )/);
      document.info.description = introduction;
      chapters = rest.join('\\n');
      response.text = JSON.stringify(document);
      return response;
    }
    const collection = new URL(response.url).pathname.split('/').at(-1);
    const data = response.ok && collection in EXAMPLES ? (response.body ?? response.obj)?.data : undefined;
    const newest = Array.isArray(data) ? data[0] : data;
    if (newest?.id) {
      known.set(EXAMPLES[collection], newest.id);
      fill();
    }
    return response;
  };

  // Those of operations that are open; others are filled when they are opened.
  const fill = () => {
    const { specActions, specSelectors } = window.ui;
    specSelectors.specJson().get('paths').forEach((operations, path) => {
      operations.forEach((operation, method) => {
        operation.get('parameters')?.forEach((parameter) => {
          const value = specSelectors.parameterWithMetaByIdentity([path, method], parameter).get('value');
          if (known.has(value)) specActions.changeParamByIdentity([path, method], parameter, value, false);
        });
      });
    });
  };

  const changeParamByIdentity = (change) => (operation, parameter, value, isXml) =>
    change(operation, parameter, known.get(value) ?? value, isXml);

  // All references of the document are to its own parts. One within the part to which it refers stays.
  const resolveSubtree = async (document, path) => {
    const partAt = (names) => names.reduce((part, name) => part?.[name], document);
    const resolveAll = (parts, within) =>
      Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, resolve(part, within)]));
    const resolve = (part, within) => {
      if (Array.isArray(part)) return part.map((element) => resolve(element, within));
      if (part === null || typeof part !== 'object') return part;
      const { $ref: reference, ...siblings } = part;
      const target = reference?.startsWith?.('#/') && partAt(reference.slice(2).split('/'));
      if (!target || within.includes(reference)) return { ...part, ...resolveAll(siblings, within) };
      const resolved = resolve(target, [...within, reference]);
      return { ...resolved, ...resolveAll(siblings, within), $$ref: reference };
    };
    return { spec: resolve(partAt(path), []), errors: [] };
  };

  const opsFilter = (tags, phrase) => {
    const words = phrase.toLowerCase().split(/\\s+/);
    const matches = (operation) => {
      const { path, method } = operation.toObject();
      const text = [method, path, operation.getIn(['operation', 'summary']) ?? ''].join(' ').toLowerCase();
      return words.every((word) => text.includes(word));
    };
    return tags
      .map((tag) => tag.update('operations', (operations) => operations.filter(matches)))
      .filter((tag) => tag.get('operations').size > 0);
  };

  const page = ({ React }) => ({
    fn: { opsFilter, resolveSubtree },
    statePlugins: { spec: { wrapActions: { changeParamByIdentity } } },
    components: {
      Page: ({ getComponent, specSelectors }) => {
        const create = React.createElement;
        const isLoaded = specSelectors.loadingStatus() === 'success';
        const prose = create('div', { className: 'wrapper chapters' }, create(getComponent('Markdown', true), { source: chapters }));
        return create('div', { className: 'swagger-ui' }, create(getComponent('BaseLayout', true)), isLoaded && prose);
      },
    },
  });

  window.ui = SwaggerUIBundle({
    url: 'openapi.json',
    dom_id: '#swagger-ui',
    deepLinking: true,
    displayOperationId: false,
    displayRequestDuration: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    filter: true,
    persistAuthorization: true,
    tryItOutEnabled: true,
    validatorUrl: null,
    presets: [SwaggerUIBundle.presets.apis],
    plugins: [page],
    layout: 'Page',
    requestInterceptor,
    responseInterceptor,
    onComplete: () => {
      document.querySelector('.operation-filter-input').placeholder = 'Filter by method, path or summary';
    },
  });
});
`;

/** Headers and errors that all operations share are described once, in the chapters. */
export const STYLE = `.swagger-ui .responses-table:not(.live-responses-table) .response[data-code^='4'],
.swagger-ui .responses-table:not(.live-responses-table) .response[data-code^='5'],
.swagger-ui .responses-table:not(.live-responses-table) .headers-wrapper {
  display: none;
}
.swagger-ui .chapters {
  padding-bottom: 60px;
}
.swagger-ui .filter .operation-filter-input {
  max-width: 100%;
}
`;
