<?php

declare(strict_types=1);

namespace Bursar\WooCommerce;

use Throwable;
use WC_Order;
use WC_Payment_Gateway;
use WP_Error;

/** The payment method of the checkout: it sends the payer to the page of a charge. */
class Gateway extends WC_Payment_Gateway
{
    public const ID = 'bursar';

    /** @var callable(): Settings */
    private $load;

    /** @param (callable(): Settings)|null $load in place of the shop's settings, in tests */
    public function __construct(?callable $load = null)
    {
        $this->load = $load ?? [Settings::class, 'load'];
        $this->id = self::ID;
        $this->method_title = 'Bursar';
        $this->method_description = __('Payments in cryptocurrencies by your own Bursar service.', 'bursar');
        $this->has_fields = false;
        $this->supports = ['products', 'refunds'];
        $this->init_form_fields();
        $this->init_settings();
        $this->title = $this->get_option('title');
        $this->description = $this->get_option('description');
        add_action('woocommerce_update_options_payment_gateways_' . $this->id, [$this, 'process_admin_options']);
    }

    public function init_form_fields()
    {
        $field = static fn (string $type, string $title, string $about = '', string $default = ''): array => [
            'type' => $type,
            'title' => $title,
            'description' => $about,
            'default' => $default,
        ];
        $this->form_fields = [
            'enabled' => ['label' => __('Take payments by Bursar', 'bursar')]
                + $field('checkbox', __('Enabled', 'bursar'), '', 'no'),
            'title' => $field('text', __('Title', 'bursar'), '', __('Cryptocurrency', 'bursar')),
            'description' => $field('textarea', __('Description', 'bursar')),
            'url' => $field('text', __('URL of the service', 'bursar'), 'https://pay.example'),
            'key' => $field('password', __('API key', 'bursar'), __('Or the constant BURSAR_KEY.', 'bursar')),
            'secret' => $field(
                'password',
                __('API secret', 'bursar'),
                __('For refunds only. Or the constant BURSAR_SECRET. Leave it empty to refund elsewhere.', 'bursar')
            ),
            'webhook_secret' => $field(
                'password',
                __('Webhook secret', 'bursar'),
                __('whsec_… of the account. Or the constant BURSAR_WEBHOOK_SECRET.', 'bursar')
            ),
            'currencies' => $field('text', __('Currencies', 'bursar'), __('Such as BTC,USDT.', 'bursar')),
            'expires' => $field('text', __('Time to pay, in seconds', 'bursar'), '', '3600'),
            'under_percent' => $field('text', __('Per cent that may be missing', 'bursar')),
            'contact' => $field('text', __('Contact on the payment page', 'bursar')),
        ];
    }

    public function needs_setup()
    {
        return !($this->load)()->complete();
    }

    public function is_available()
    {
        return parent::is_available() && ($this->load)()->complete();
    }

    public function process_payment($order_id)
    {
        $order = wc_get_order($order_id);
        try {
            $charge = Lock::around((int) $order_id, fn (): array => (new Charges(($this->load)()))->payable(
                wc_get_order($order_id), // as it is now that the lock is held
                $this->get_return_url($order),
                $order->get_checkout_payment_url(),
                WC()->api_request_url(self::ID)
            ));
            return ['result' => 'success', 'redirect' => Charges::page($charge)];
        } catch (Throwable $failed) {
            wc_get_logger()->error("Order $order_id has no charge: " . $failed->getMessage(), ['source' => self::ID]);
            wc_add_notice(__('The payment could not be started. Please try again.', 'bursar'), 'error');
            return ['result' => 'failure'];
        }
    }

    public function can_refund_order($order)
    {
        return parent::can_refund_order($order) && $order->get_transaction_id() !== ''
            && ($this->load)()->get('secret') !== '';
    }

    public function process_refund($order_id, $amount = null, $reason = '')
    {
        try {
            $text = (string) wc_format_decimal((string) $amount, wc_get_price_decimals());
            $withdrawal = Lock::around((int) $order_id, fn (): string => (new Refunds(($this->load)()))->refund(
                wc_get_order($order_id),
                $text
            ));
        } catch (Throwable $failed) {
            return new WP_Error('bursar', $failed->getMessage());
        }
        $order = wc_get_order($order_id);
        $order->add_order_note("Refund of $text {$order->get_currency()}: withdrawal $withdrawal.");
        return true;
    }
}
