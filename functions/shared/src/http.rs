//! A request as the gateway hands it over, made what the routers take: what they see is what the sender wrote.

use http::{Request, Uri};

/// The request with its path as it came, and without the address that was put before it: a library that takes the gateway's
/// event apart resolves dots in the path and adds scheme and host.
pub fn as_it_came<B>(mut request: Request<B>, raw_path: &str) -> Request<B> {
    let uri = request.uri();
    let path = match uri.query() {
        Some(query) => format!("{raw_path}?{query}"),
        None => raw_path.to_owned(),
    };
    // The gateway decodes some of the path: what is no address then keeps the library's.
    let path = path.parse::<Uri>().ok();
    let path = path.filter(|path| path.authority().is_none() && path.path().starts_with('/'));
    let own = uri
        .path_and_query()
        .and_then(|own| own.as_str().parse().ok());
    if let Some(path) = path.or(own) {
        *request.uri_mut() = path;
    }
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(uri: &str, raw_path: &str) -> String {
        let request = Request::builder().uri(uri).body(()).expect("a request");
        as_it_came(request, raw_path).uri().to_string()
    }

    #[test]
    fn the_path_is_what_the_sender_wrote() {
        let seen_at = |path| seen("https://board.example/in/shop?a=b&c", path);
        assert_eq!(seen_at("/in/shop"), "/in/shop?a=b&c");
        assert_eq!(seen_at("/in/x/../shop"), "/in/x/../shop?a=b&c");
        assert_eq!(seen_at("/in//shop"), "/in//shop?a=b&c");
        assert_eq!(seen_at("/in/a b"), "/in/shop?a=b&c", "it is no address");
        assert_eq!(seen_at(""), "/in/shop?a=b&c");
        assert_eq!(seen("https://board.example/", "/"), "/");
    }
}
