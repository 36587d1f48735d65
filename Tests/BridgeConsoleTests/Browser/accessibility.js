(() => {
  const findings = [];
  const find = (rule, element) => findings.push({ rule, what: element.outerHTML.slice(0, 200) });
  const isSeen = (element) => element.getClientRects().length > 0;
  const all = (selector) => [...document.querySelectorAll(selector)].filter(isSeen);
  const channel = (value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  const parse = (color) => (color.match(/[\d.]+/g) || []).map(Number);
  const luminance = ([red, green, blue]) =>
    0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue);
  const background = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const color = parse(getComputedStyle(one).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  for (const element of all('body *')) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!hasText || element.closest('[aria-hidden=true], .unseen, .skip, option, noscript')) continue;
    if (element.disabled) continue;
    const [one, other] = [luminance(parse(getComputedStyle(element).color)), luminance(background(element))];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (contrast < 4.5) find(`contrast ${contrast.toFixed(2)}`, element);
  }
  for (const element of all('button, input, select, a, svg[role=img]')) {
    const label = element.closest('label') || (element.id && document.querySelector(`label[for=${element.id}]`));
    const name = element.getAttribute('aria-label') || (label && label.textContent) || element.textContent;
    if (!name.trim()) find('name', element);
  }
  for (const element of all('button')) {
    const label = element.getAttribute('aria-label');
    if (label && !label.includes(element.textContent)) find('name without its text', element);
    if (element.getBoundingClientRect().height < 24) find('small target', element);
    element.focus();
    if (!element.disabled && document.activeElement !== element) find('focus', element);
  }
  const headings = all('h1, h2, h3').map((element) => Number(element.tagName[1]));
  headings.forEach((level, index) => {
    if (level > (headings[index - 1] || 0) + 1) findings.push({ rule: 'heading order', what: String(headings) });
  });
  const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
  if (new Set(ids).size !== ids.length) findings.push({ rule: 'ids', what: String(ids) });
  if (all('main').length !== 1 || all('header').length !== 1) findings.push({ rule: 'landmarks', what: '' });
  if (!document.documentElement.lang) findings.push({ rule: 'language', what: '' });
  if (document.documentElement.scrollWidth > window.innerWidth) {
    findings.push({ rule: 'scrolls sideways', what: `${document.documentElement.scrollWidth} > ${window.innerWidth}` });
  }
  document.activeElement.blur();
  return findings;
})()
