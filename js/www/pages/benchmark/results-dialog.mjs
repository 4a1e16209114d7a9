// The pop-up that results are shown in, whatever they are: a title, what can be downloaded, a chart, and what stands below it.

import { copyOf, find } from '../../elements.mjs';

/**
 * @param {object} results
 * @param {string} results.title
 * @param {(Node | string)[]} results.subtitle
 * @param {(Node | string)[]} results.legend
 * @param {(place: HTMLElement) => () => void} results.draw draws the chart; answers what ends that
 * @param {Node[]} results.sections below the chart
 * @param {(chart: () => SVGElement | null) => Node} results.downloads
 */
export function openResults({ title, subtitle, legend, draw, sections, downloads }) {
  const dialog = find(copyOf('results-template'), 'dialog', HTMLDialogElement);
  const canvas = find(dialog, '#chart-canvas', HTMLElement);
  find(dialog, '#results-title', HTMLElement).textContent = title;
  find(dialog, '#results-subtitle', HTMLElement).append(...subtitle);
  find(dialog, '#chart-legend', HTMLElement).append(...legend);
  find(dialog, '#results-sections', HTMLElement).append(...sections);
  find(dialog, '#results-downloads', HTMLElement).append(downloads(() => canvas.querySelector('svg')));
  document.body.append(dialog);
  dialog.showModal();
  const stopDrawing = draw(canvas);
  find(dialog, '[data-action="close"]', HTMLButtonElement).addEventListener('click', () => dialog.close());
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener('close', () => {
    stopDrawing();
    dialog.remove();
  });
}
