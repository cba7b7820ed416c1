# Three SMTP servers of aiosmtpd in one process: with STARTTLS, with TLS from the beginning, and without either. Each
# asks for a password. The first line of the output is their ports, each further one a message as JSON.
import asyncio
import email
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult

context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])


def authenticate(server, session, envelope, mechanism, data):
    good = data.login == b"bursar" and data.password == b"correct horse"
    return AuthResult(success=good, handled=good, message=None if good else "535 no: " + data.password.decode())


class Handler:
    async def handle_DATA(self, server, session, envelope):
        m = email.message_from_bytes(envelope.content)
        print(json.dumps({
            "from": envelope.mail_from, "to": envelope.rcpt_tos, "encrypted": server.transport.get_extra_info("ssl_object") is not None,
            "id": m["Message-ID"], "subject": m["Subject"], "auto": m["Auto-Submitted"],
            "text": m.get_payload(decode=True).decode(),
        }), flush=True)
        return "250 OK"


async def main():
    loop = asyncio.get_running_loop()

    async def serve(secure=None, **settings):
        def factory():
            return SMTP(Handler(), authenticator=authenticate, auth_required=True, loop=loop, **settings)
        server = await loop.create_server(factory, "127.0.0.1", 0, ssl=secure)
        return server.sockets[0].getsockname()[1]

    print(json.dumps([
        await serve(tls_context=context, require_starttls=True),
        await serve(secure=context, auth_require_tls=False),
        await serve(auth_require_tls=False),
    ]), flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


asyncio.run(main())
