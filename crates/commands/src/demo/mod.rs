//! The demo site: a small shop on this machine for first runs, examples and tests. It listens on loopback only.
//!
//! `drumfire demo` serves it until Ctrl-C. `drumfire run --demo` serves it inside the process for the length of the run,
//! on a separate thread; the plan finds it through the properties `demo.host`, `demo.port` and `demo.https.port`. Without a plan,
//! `run --demo` runs the built-in one (`quickstart`).

use drumfire_platform::causes::cause;

pub mod arguments;
mod checkout;
pub mod command;
#[cfg(feature = "grpc")]
mod grpc;
mod images;
mod pages;
pub mod quickstart;
mod reply;
mod routes;
mod shop;
mod stream;
mod tls;

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use shop::Shop;

/// The running demo site. Dropping it stops it.
#[derive(Debug)]
pub struct DemoSite {
    /// Where HTTP is served.
    pub http: SocketAddr,
    /// Where HTTPS is served, with a self-signed certificate.
    pub https: SocketAddr,
    shop: Arc<Shop>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl DemoSite {
    /// Starts the site on loopback. Port 0 takes a free one.
    ///
    /// # Errors
    /// A port that is in use, or a thread or certificate that cannot be made.
    pub fn start(port: u16, https_port: u16) -> io::Result<DemoSite> {
        let acceptor = tls::acceptor().map_err(io::Error::other)?;
        let http = listen(port)?;
        let https = listen(https_port)?;
        let addresses = (http.local_addr()?, https.local_addr()?);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (stop, stopped) = oneshot::channel();
        let shop = Arc::new(Shop::new());
        let served = Arc::clone(&shop);
        let thread = std::thread::Builder::new()
            .name("demo-site".to_owned())
            .spawn(move || {
                runtime.block_on(serve_until(stopped, http, https, acceptor, served));
            })?;
        Ok(DemoSite {
            http: addresses.0,
            https: addresses.1,
            shop,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// The requests that it has answered.
    pub fn requests(&self) -> u64 {
        self.shop.requests.load(Ordering::Relaxed)
    }

    /// The properties by which a plan finds the site.
    pub fn properties(&self) -> [(&'static str, String); 3] {
        [
            ("demo.host", self.http.ip().to_string()),
            ("demo.port", self.http.port().to_string()),
            ("demo.https.port", self.https.port().to_string()),
        ]
    }
}

impl Drop for DemoSite {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The receiver is gone only if the thread has ended already.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn listen(port: u16) -> io::Result<std::net::TcpListener> {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| {
        io::Error::new(
            error.kind(),
            format!("cannot listen on 127.0.0.1:{port}: {}", cause(&error)),
        )
    })?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

async fn serve_until(
    stopped: oneshot::Receiver<()>,
    http: std::net::TcpListener,
    https: std::net::TcpListener,
    acceptor: TlsAcceptor,
    shop: Arc<Shop>,
) {
    let (Ok(http), Ok(https)) = (TcpListener::from_std(http), TcpListener::from_std(https)) else {
        tracing::error!("the demo site cannot register its sockets");
        return;
    };
    tokio::select! {
        _ = stopped => {}
        () = accept(http, None, Arc::clone(&shop)) => {}
        () = accept(https, Some(acceptor), shop) => {}
    }
}

async fn accept(listener: TcpListener, acceptor: Option<TlsAcceptor>, shop: Arc<Shop>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(connection(stream, acceptor.clone(), Arc::clone(&shop)));
            }
            Err(error) => {
                // Most likely out of file descriptors; others may close theirs soon.
                tracing::warn!("the demo site cannot accept: {error}");
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        }
    }
}

async fn connection(stream: TcpStream, acceptor: Option<TlsAcceptor>, shop: Arc<Shop>) {
    let _ = stream.set_nodelay(true);
    match acceptor {
        #[cfg(feature = "grpc")]
        None if grpc::is_asked(&stream).await => grpc::serve(stream, &shop).await,
        None => exchange(stream, shop).await,
        Some(acceptor) => {
            if let Ok(stream) = acceptor.accept(stream).await {
                exchange(stream, shop).await;
            }
        }
    }
}

async fn exchange<S: AsyncRead + AsyncWrite + Unpin>(stream: S, shop: Arc<Shop>) {
    let service = service_fn(move |request| {
        let shop = Arc::clone(&shop);
        shop.requests.fetch_add(1, Ordering::Relaxed);
        async move { Ok::<_, Infallible>(routes::answer(&shop, request).await) }
    });
    // A client that disconnects midway is not an error of the site.
    let _ = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

#[cfg(test)]
mod tests;
