// The payment method in the checkout of blocks. Its payer is sent to the page of the charge when the order is placed.
(function () {
  const data = window.wc.wcSettings.getSetting("bursar_data", {});
  const text = (value) => window.wp.htmlEntities.decodeEntities(value || "");
  const Content = () => text(data.description);
  const content = window.wp.element.createElement(Content, null);
  window.wc.wcBlocksRegistry.registerPaymentMethod({
    name: "bursar",
    label: text(data.title),
    ariaLabel: text(data.title),
    content,
    edit: content,
    canMakePayment: () => true,
    supports: { features: data.supports || ["products"] },
  });
})();
